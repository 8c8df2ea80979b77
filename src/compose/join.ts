type Named<T> = Readonly<Record<string, T>>

/** Joins what several modules name. Throws where two of them name the same, since one would hide the other. */
export function joinNamed<T>(parts: readonly (Named<T> | undefined)[]): Named<T> {
  const entries = parts.flatMap((part) => Object.entries(part ?? {}))
  const joined = Object.fromEntries(entries)
  const hidden = entries.find(([name, each]) => joined[name] !== each)
  if (hidden !== undefined) throw new Error(`two modules name ${hidden[0]}`)
  return joined
}
