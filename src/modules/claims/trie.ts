/** A tree of words over letters, figures and the star that stands for any one of them. */
export interface Trie {
  /** The node after a symbol, at `node * SYMBOLS + symbol`; 0 when there is none. */
  next: Uint16Array
  /** The word that ends at a node, or -1. */
  word: Int32Array
}

const SYMBOLS = 37

/** The symbol of an ASCII code as it is written, or -1. */
const WRITTEN = new Int8Array(128).fill(-1)
for (let letter = 0; letter < 26; letter += 1) WRITTEN[97 + letter] = letter
for (let figure = 0; figure < 10; figure += 1) WRITTEN[48 + figure] = 26 + figure
WRITTEN[42] = 36

/** Signs that are read as letters. i and l are one letter here, or a 1 could not be both. */
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

/** The symbol of an ASCII code as it looks, or -1. */
const LOOKED_AT = WRITTEN.slice()
for (const [letter, signs] of Object.entries(LEET)) {
  for (const sign of signs) LOOKED_AT[sign.charCodeAt(0)] = WRITTEN[letter.charCodeAt(0)] ?? -1
}

const ALPHABETS = { written: WRITTEN, looks: LOOKED_AT } as const
type Alphabet = keyof typeof ALPHABETS

/** Puts words into a tree. Of two words that look alike the first is kept. */
export function buildTrie(words: Iterable<[text: string, id: number]>, alphabet: Alphabet): Trie {
  const symbols = ALPHABETS[alphabet]
  const rows: number[][] = [new Array<number>(SYMBOLS).fill(0)]
  const ends: number[] = [-1]
  for (const [text, id] of words) {
    let node = 0
    for (let at = 0; at < text.length; at += 1) {
      const row = rows[node] as number[]
      const symbol = symbols[text.charCodeAt(at)] ?? -1
      if (symbol < 0) throw new Error(`a word of the rules has a sign in it: ${text}`)
      if (row[symbol] === 0) {
        row[symbol] = rows.push(new Array<number>(SYMBOLS).fill(0)) - 1
        ends.push(-1)
      }
      node = row[symbol] as number
    }
    if (ends[node] === -1) ends[node] = id
  }
  return { next: Uint16Array.from(rows.flat()), word: Int32Array.from(ends) }
}

/** The node after one more ASCII code as it is written, or 0. */
export function step(trie: Trie, node: number, unit: number): number {
  const symbol = WRITTEN[unit] ?? -1
  return symbol < 0 ? 0 : (trie.next[node * SYMBOLS + symbol] as number)
}

/** The node after one more ASCII code as it looks, or 0. */
export function stepByLooks(trie: Trie, node: number, unit: number): number {
  const symbol = LOOKED_AT[unit] ?? -1
  return symbol < 0 ? 0 : (trie.next[node * SYMBOLS + symbol] as number)
}

/** The node after a part of a text as it looks, or 0 when no word begins so. */
export function walk(trie: Trie, text: string, start: number, end: number): number {
  let node = 0
  for (let at = start; at < end; at += 1) {
    node = stepByLooks(trie, node, text.charCodeAt(at))
    if (node === 0) return 0
  }
  return node
}
