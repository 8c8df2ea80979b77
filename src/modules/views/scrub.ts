/** Members of an answer that say something of a person. Whatever they hold is made null. */
const PERSONAL: ReadonlySet<string> = new Set([
  'email',
  'recipient_email',
  'ip',
  'ship_to',
  'person_id',
  'note',
])

/** Words of somebody's own, which stand where a text must be. */
const WORDS: ReadonlySet<string> = new Set(['reason'])

/** A word of ours, such as `requested_by_customer`. */
const CODE_LIKE = /^[a-z0-9_]+$/

/** Who is to be found no more. */
export interface Gone {
  /** What each reference is called from now on. */
  pseudonyms: ReadonlyMap<string, string>
  /** In lower case. Wherever one stands, it goes. */
  emails: readonly string[]
}

/** A kept answer without the person: the same members, the same amounts, other names. */
export function scrubAnswer(body: string, { pseudonyms, emails }: Gone): string {
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if (PERSONAL.has(name)) return null
    if (typeof value !== 'string') return value
    if (WORDS.has(name) && !CODE_LIKE.test(value)) return '[erased]'
    if (emails.includes(value.toLowerCase())) return null
    return pseudonyms.get(value) ?? value
  })
}
