// What a page of the API says at length is folded: of a method or property all but its first sentence, of long lists of
// parameters, of notes and of examples in the gallery all but the first, and the attributes of a class. A link to a
// method, a searched word and a printer unfold it. Arrows and buttons of the theme get names that say what they show.
const fold = (title, rest) => {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.append(...title);
  rest[0].before(details);
  details.append(summary, ...rest);
};
const foldRest = (list, nShown, nChildren) => {
  const rest = list.cloneNode();
  list.after(rest);
  rest.append(...[...list.children].slice(nShown * nChildren));
  fold([`${rest.children.length / nChildren} more`], [rest]);
};
const unfold = (element) => {
  const body = element.nextElementSibling?.querySelector(":scope > details");
  for (let folded = body ?? element.closest("details"); folded; folded = folded.parentElement.closest("details")) {
    folded.open = true;
  }
};
document.addEventListener("DOMContentLoaded", () => {
  for (const body of document.querySelectorAll("dl.py.class dl.py:is(.method, .property) > dd")) {
    const [sentence, ...more] = body.children;
    if (more.length && sentence.matches("p")) {
      fold(sentence.childNodes, more);
      sentence.remove();
    }
  }
  for (const list of document.querySelectorAll("dl.py > dd > dl.field-list > dt + dd > dl")) {
    const n = list.children.length / 2;
    if (list.parentElement.previousElementSibling.textContent.startsWith("Attributes")) {
      if (n > 3) fold([`${n} entries`], [list]);
    } else if (n > 10) foldRest(list, 8, 2);
  }
  for (const list of document.querySelectorAll("dl.py ~ section > .sphx-glr-thumbnails")) {
    if (list.children.length > 3) foldRest(list, 3, 1);
  }
  for (const title of document.querySelectorAll("dl.py > dd > p.rubric")) {
    const notes = [];
    for (let note = title.nextElementSibling; note && !note.matches("dl"); note = note.nextElementSibling) {
      if (note.textContent === "Examples") break;
      notes.push(note);
    }
    if (title.textContent === "Notes" && notes[1]?.matches(":not(.rubric)")) fold(["More notes"], notes.slice(1));
  }
  for (const arrow of document.querySelectorAll("summary > .toctree-toggle")) {
    const page = arrow.closest("li").querySelector("a").textContent;
    arrow.parentElement.setAttribute("aria-label", `Pages under ${page}`);
  }
  for (const button of document.querySelectorAll(".version-switcher__button")) {
    button.setAttribute("aria-label", `Choose version, now ${DOCUMENTATION_OPTIONS.theme_switcher_version_match}`);
  }
  const open = () => {
    const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (linked) {
      unfold(linked);
      linked.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => document.querySelectorAll("article details").forEach((folded) => (folded.open = true)));
  // Sphinx marks no words where the theme's search is on the page, and else a moment later.
  if (DOCUMENTATION_OPTIONS.pagename !== "search") {
    SphinxHighlight.highlightSearchWords();
    setTimeout(() => document.querySelectorAll("article details .highlighted").forEach(unfold), 20);
  }
  open();
});
