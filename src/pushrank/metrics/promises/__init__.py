"""Promises of lists to come: bounds that hold for any number of labelled rows, by their exchangeability."""
