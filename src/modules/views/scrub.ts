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

/** A kept answer without the person: the same members, the same amounts, other names. */
export function scrubAnswer(body: string, pseudonyms: ReadonlyMap<string, string>): string {
  return JSON.stringify(JSON.parse(body), (name, value: unknown) => {
    if (PERSONAL.has(name)) return null
    if (typeof value !== 'string') return value
    if (WORDS.has(name) && !CODE_LIKE.test(value)) return '[erased]'
    return name === 'customer_ref' ? (pseudonyms.get(value) ?? value) : value
  })
}
