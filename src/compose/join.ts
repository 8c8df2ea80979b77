/**
 * Joins what several modules name. Throws where two of them name the same, since one would hide the other. `Name` is
 * every name that they have, where the compiler should know.
 */
export function joinNamed<T, Name extends string = string>(
  parts: readonly (Readonly<Record<string, T>> | undefined)[],
): Readonly<Record<Name, T>> {
  const entries = parts.flatMap((part) => Object.entries(part ?? {}))
  const joined = Object.fromEntries(entries)
  const hidden = entries.find(([name, each]) => joined[name] !== each)
  if (hidden !== undefined) throw new Error(`two modules name ${hidden[0]}`)
  return joined as Record<Name, T>
}
