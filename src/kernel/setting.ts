/** A setting of a process: its allowed values, its default and its meaning. */
export interface Setting<T> {
  /** Parses the text. Throws `Expected` when it is not valid. */
  read(text: string): T
  expected: string
  /** The value when the setting is absent or empty. Shown in the documentation. */
  fallback: T
  meaning: string
  secret?: true
  /** Set where the empty string is a value, and does not mean absent. */
  emptyCounts?: true
}

/** Thrown by a reader where a text is not what the setting expects. */
export class Expected extends Error {}

export function setting<T>(
  fallback: T,
  expected: string,
  meaning: string,
  read: (text: string) => T,
) {
  return { fallback, expected, meaning, read } satisfies Setting<T>
}

export const text = (fallback: string, meaning: string) =>
  setting<string>(fallback, 'text', meaning, (value) => value)

export const optional = (meaning: string) =>
  setting<string | undefined>(undefined, 'text', meaning, (value) => value)

export const whole = (fallback: number, min: number, max: number, meaning: string) =>
  setting<number>(fallback, `a whole number from ${min} to ${max}`, meaning, (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Expected()
    return number
  })

/** A whole number that may be unset, which means no limit. */
export const optionalWhole = (min: number, max: number, meaning: string) => {
  const { expected, read } = whole(min, min, max, meaning)
  return setting<number | undefined>(undefined, expected, meaning, read)
}

export const oneOf = <const T extends string, const F>(
  fallback: F,
  all: readonly T[],
  meaning: string,
) =>
  setting<T | F>(fallback, `one of ${all.join(', ')}`, meaning, (value) => {
    if (!all.includes(value as T)) throw new Expected()
    return value as T
  })

export const url = (schemes: readonly string[], meaning: string) =>
  setting<string | undefined>(undefined, `a ${schemes.join(' or ')} URL`, meaning, (value) => {
    const scheme = URL.canParse(value) ? new URL(value).protocol.slice(0, -1) : ''
    if (!schemes.includes(scheme)) throw new Expected()
    return value.replace(/\/+$/, '')
  })

export const list = (expected: string, meaning: string, check: (item: string) => boolean) =>
  setting<readonly string[]>([], `a comma-separated list of ${expected}`, meaning, (value) => {
    const items = value.split(',').map((item) => item.trim())
    if (!items.every(check)) throw new Expected()
    return items
  })

/** Settings by their name in the environment. */
export type SettingTable = Readonly<Record<string, Setting<unknown>>>

/** The values of a table of settings. */
export type Values<Table extends SettingTable> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['read']>
}
