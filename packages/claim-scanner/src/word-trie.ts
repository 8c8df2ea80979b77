/** A trie of words over letters, figures and the star that stands for any one of them. */
export interface WordTrie {
  /** The symbol of each ASCII code. */
  symbols: Uint8Array
  /** The node after a symbol, at `node * SYMBOLS + symbol`; 0 when there is none. */
  next: Uint16Array
  /** The word that ends at a node, or -1. */
  word: Int16Array
}

/** 26 letters, 10 figures, the star, and one symbol for all characters that are in no word. */
const SYMBOLS = 38
const IN_NO_WORD = 37

const WRITTEN = new Uint8Array(128).fill(IN_NO_WORD)
for (let letter = 0; letter < 26; letter += 1) WRITTEN[97 + letter] = letter
for (let figure = 0; figure < 10; figure += 1) WRITTEN[48 + figure] = 26 + figure
WRITTEN[42] = 36

/** Characters that are read as letters. i and l are one letter here, since a 1 can be either. */
const LEET = {
  i: 'l1|!',
  o: '0',
  e: '3',
  a: '4@',
  s: '5$',
  t: '7+',
  b: '8',
  g: '96',
  z: '2',
}

const LOOKALIKE = WRITTEN.slice()
for (const [letter, signs] of Object.entries(LEET)) {
  for (const sign of signs) {
    LOOKALIKE[sign.charCodeAt(0)] = WRITTEN[letter.charCodeAt(0)] as number
  }
}

/** How characters are read: as they are written, or as the letters they look like. */
const ALPHABETS = { written: WRITTEN, lookalike: LOOKALIKE } as const
type Alphabet = keyof typeof ALPHABETS

/** Builds a trie. Of two words that look alike the first is kept. */
export function buildTrie(
  words: Iterable<[text: string, id: number]>,
  alphabet: Alphabet,
): WordTrie {
  const symbols = ALPHABETS[alphabet]
  const ends: number[] = [-1]
  // One growing array: a list per node would take fifty times the memory.
  let next = new Uint16Array(SYMBOLS)
  for (const [text, id] of words) {
    let node = 0
    for (let at = 0; at < text.length; at += 1) {
      const symbol = symbols[text.charCodeAt(at)] ?? IN_NO_WORD
      if (symbol === IN_NO_WORD) throw new Error(`a word of the rules has a sign in it: ${text}`)
      const slot = node * SYMBOLS + symbol
      if (next[slot] === 0) {
        next[slot] = ends.push(-1) - 1
        if (next.length < ends.length * SYMBOLS) next = doubled(next)
      }
      node = next[slot] as number
    }
    if (ends[node] === -1) ends[node] = id
  }
  if (ends.length > 0xffff) throw new Error('the rules have more words than a trie can hold')
  return { symbols, next: next.slice(0, ends.length * SYMBOLS), word: Int16Array.from(ends) }
}

function doubled(rows: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(rows.length * 2)
  larger.set(rows)
  return larger
}

/** The node after one more ASCII code, or 0. */
export const step = ({ symbols, next }: WordTrie, node: number, unit: number): number =>
  next[node * SYMBOLS + (symbols[unit] as number)] as number

/** The node after a part of a text, or 0 when no word begins so. */
export function walk(trie: WordTrie, units: Uint8Array, start: number, end: number): number {
  let node = 0
  for (let at = start; at < end; at += 1) {
    node = step(trie, node, units[at] as number)
    if (node === 0) return 0
  }
  return node
}

/** The word that equals a part of a text, or -1. */
export const lookUp = (trie: WordTrie, units: Uint8Array, start: number, end: number): number =>
  trie.word[walk(trie, units, start, end)] as number

/** The longest word that a part of a text begins with, or -1. */
export function findStem(trie: WordTrie, units: Uint8Array, start: number, end: number): number {
  let node = 0
  let found = -1
  for (let at = start; at < end; at += 1) {
    node = step(trie, node, units[at] as number)
    if (node === 0) return found
    if ((trie.word[node] as number) >= 0) found = trie.word[node] as number
  }
  return found
}
