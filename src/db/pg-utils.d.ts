/** What the driver makes of a parameter before it binds it. Its declarations leave this out. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): string | Buffer | null
}
