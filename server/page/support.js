// The words of a passage that support a sentence: the sentence itself, else the words and numbers of both.

const WORD = /[\p{L}\p{N}][\p{L}\p{N}.,%-]*/gu;
const HANGUL = /^[\uac00-\ud7a3]/;
const COMMON = new Set(("a an and are as at be by for from had has have in is it its of on or that the their these this to was were which with " +
  "본 이 그 및 등 것 수 하였다 있다 있었다 않았다 한다 된다 대한 대하여 위한 통해").split(" "));

const bare = (word) => word.toLowerCase().replace(/[.,-]+$/, "");
const stem = (word) => (word.length > 4 ? word.replace(/(ies|ing|ed|es|s)$/, "") : word);

function alike(one, other) {
  if (one === other) return true;
  if (HANGUL.test(one) && HANGUL.test(other)) {
    // Particles and endings differ: words match by a common prefix of two syllables and 60 % of the shorter word.
    let same = 0;
    while (same < one.length && same < other.length && one[same] === other[same]) same += 1;
    return same >= 2 && same >= 0.6 * Math.min(one.length, other.length);
  }
  return /[a-z]/.test(one) && stem(one) === stem(other);
}

/** Return the spans [start, end) of code points of `text` that support `sentence`; `searched` are keywords, which support a sentence in another language. */
export function supportingSpans(sentence, text, searched = []) {
  const whole = text.indexOf(sentence);
  if (whole >= 0) return [[codePoints(text, whole), codePoints(text, whole + sentence.length)]];
  const wanted = [...new Set((sentence.match(WORD) ?? []).map(bare))].filter((word) => !COMMON.has(word) && (word.length > 1 || /\d/.test(word)));
  wanted.push(...searched.flatMap((keyword) => keyword.toLowerCase().split(/\s+/)));
  const spans = [];
  for (const found of text.matchAll(WORD)) {
    const word = bare(found[0]);
    if (COMMON.has(word) || !wanted.some((other) => alike(word, other))) continue;
    const end = found[0].replace(/[.,-]+$/, "").length;
    spans.push([codePoints(text, found.index), codePoints(text, found.index + end)]);
  }
  return spans;
}

const codePoints = (text, units) => Array.from(text.slice(0, units)).length;
