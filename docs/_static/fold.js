// What a page of the API says at length is folded: of a method all but its first sentence, and the attributes of a
// class. A link to a method opens it. The arrows of the theme's menu get names, for those who cannot see them.
const fold = (body, title, rest) => {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(...title);
  details.append(summary, ...rest);
  body.replaceChildren(details);
};
document.addEventListener("DOMContentLoaded", () => {
  for (const body of document.querySelectorAll("dl.py.class dl.py.method > dd")) {
    const [sentence, ...more] = body.children;
    if (more.length && sentence.matches("p")) fold(body, sentence.childNodes, more);
  }
  for (const body of document.querySelectorAll("dl.py.class > dd > dl.field-list > dt + dd")) {
    const names = body.querySelectorAll(":scope > dl > dt");
    if (body.previousElementSibling.textContent.startsWith("Attributes") && names.length > 3) {
      fold(body, [`${names.length} entries`], [...body.children]);
    }
  }
  for (const arrow of document.querySelectorAll("summary > .toctree-toggle")) {
    const page = arrow.closest("li").querySelector("a").textContent;
    arrow.parentElement.setAttribute("aria-label", `Pages under ${page}`);
  }
  const open = () => {
    const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const details = linked?.nextElementSibling?.querySelector(":scope > details");
    if (details) {
      details.open = true;
      linked.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  open();
});
