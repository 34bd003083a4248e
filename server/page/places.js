// The target of a search: an index, or sources, as `source:NAME,NAME`.

import { h } from "./dom.js";
import { paperAddress } from "./papers.js";

export const SOURCES = "source:";

export const isSources = (place) => place.startsWith(SOURCES);
export const sourcesIn = (place) => (isSources(place) ? place.slice(SOURCES.length).split(",") : []);

/** Return the fields of a call that name the target; none for the default. */
export const partOf = (place) => (isSources(place) ? { sources: sourcesIn(place) } : place ? { index: place } : {});

/** Return the target of a result or an answer; undefined if it names none. */
export const placeOf = ({ index, sources }) => index ?? (sources && `${SOURCES}${sources.join(",")}`);

/** The address of a hit: a page here, or for a paper of a source the address that the server found safe, if any. */
export const hitAddress = (hit, place) => (isSources(place) ? hit.url : paperAddress(hit.doc_id, place, hit.passage_id));

/** A title that links to its paper, if that has an address. */
export const linked = (address, attributes, ...content) =>
  (address ? h("a", { href: address, ...attributes }, ...content) : h("span", attributes, ...content));
