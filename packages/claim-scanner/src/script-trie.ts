/** A trie of words in any script. A map for each node: few texts need it, and it is small. */
export interface ScriptTrie {
  next: Map<number, number>[]
  /** The word that ends at a node, and the stem that does, or -1. */
  word: number[]
  stem: number[]
}

/** Builds a trie. A star at the end of a word stands for any ending. */
export function buildScriptTrie(words: Iterable<readonly [text: string, id: number]>): ScriptTrie {
  const trie: ScriptTrie = { next: [new Map()], word: [-1], stem: [-1] }
  for (const [text, id] of words) {
    const isStem = text.endsWith('*')
    const letters = isStem ? text.slice(0, -1) : text
    let node = 0
    for (let at = 0; at < letters.length; at += 1) {
      const unit = letters.charCodeAt(at)
      let next = trie.next[node]?.get(unit)
      if (next === undefined) {
        next = trie.next.push(new Map()) - 1
        trie.word.push(-1)
        trie.stem.push(-1)
        trie.next[node]?.set(unit, next)
      }
      node = next
    }
    if (isStem) trie.stem[node] = id
    else trie.word[node] = id
  }
  return trie
}

type Units = Uint8Array | Uint16Array

/** The word that equals a part of a text, or the longest stem that it begins with, or -1. */
export function findWordOrStem(
  { next, word, stem }: ScriptTrie,
  units: Units,
  start: number,
  end: number,
): number {
  let node = 0
  let found = -1
  for (let at = start; at < end; at += 1) {
    const following = next[node]?.get(units[at] as number)
    if (following === undefined) return found
    node = following
    if ((stem[node] as number) >= 0) found = stem[node] as number
  }
  return (word[node] as number) >= 0 ? (word[node] as number) : found
}

/** The longest word that begins at a place of a text, and its end; -1 if there is none. */
export function findLongest(
  { next, word }: ScriptTrie,
  units: Units,
  start: number,
): [id: number, end: number] {
  let node = 0
  let found: [number, number] = [-1, start]
  for (let at = start; ; at += 1) {
    const following = next[node]?.get(units[at] as number)
    if (following === undefined) return found
    node = following
    if ((word[node] as number) >= 0) found = [word[node] as number, at + 1]
  }
}
