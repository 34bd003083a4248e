// Where a search looks: in an index, or in sources that stand in its place, as `source:NAME,NAME`.

import { h } from "./dom.js";
import { paperAddress } from "./papers.js";

export const SOURCES = "source:";

export const isSources = (place) => place.startsWith(SOURCES);
export const sourcesIn = (place) => (isSources(place) ? place.slice(SOURCES.length).split(",") : []);

/** Return the part of a call that says where to look; nothing where that need not be said. */
export const partOf = (place) => (isSources(place) ? { sources: sourcesIn(place) } : place ? { index: place } : {});

/** Return where a result, or an answer, comes from; undefined where it does not say. */
export const placeOf = ({ index, sources }) => index ?? (sources && `${SOURCES}${sources.join(",")}`);

/** The address of a hit: a page here, or of a paper of a source what the server found safe to link to, if anything. */
export const hitAddress = (hit, place) => (isSources(place) ? hit.url : paperAddress(hit.doc_id, place, hit.passage_id));

/** A title that leads to its paper, where that has an address. */
export const linked = (address, attributes, ...content) =>
  (address ? h("a", { href: address, ...attributes }, ...content) : h("span", attributes, ...content));
