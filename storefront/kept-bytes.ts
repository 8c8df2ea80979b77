interface Kept {
  bytes: number
  onChange: (by: number) => void
}

/**
 * The texts that pages have rendered from an object and keep as long as the object. They count in the cache of the
 * object.
 */
const keptWith = new WeakMap<object, Kept>()

const keptOf = (from: object): Kept => {
  const known = keptWith.get(from)
  if (known !== undefined) return known
  const kept = { bytes: 0, onChange: () => {} }
  keptWith.set(from, kept)
  return kept
}

/** Counts bytes that are kept with an object; a negative number counts bytes that are dropped. */
export function countKept(from: object, by: number): void {
  const kept = keptOf(from)
  kept.bytes += by
  kept.onChange(by)
}

/** Counts a text that is kept with an object. */
export const countKeptText = (from: object, text: string): void => countKept(from, 2 * text.length)

/** Returns how many bytes are kept with an object, and calls `onChange` with each later change. */
export function watchKept(from: object, onChange: (by: number) => void): number {
  const kept = keptOf(from)
  kept.onChange = onChange
  return kept.bytes
}
