import { type Html, html } from '../layout/html.ts'

/** A gateway's script with card fields of its own, as the platform names it. */
export interface CardScript {
  driver: string
  url: string
  /** The public key of the account. */
  key: string
}

/**
 * How each kind of script is put into a page. `browser/card-drivers.js` has the same names for the code that works with
 * it.
 */
const DRIVERS: ReadonlyMap<string, (script: CardScript) => Html> = new Map([
  [
    'collect',
    ({ url, key }: CardScript) =>
      html`<script src="${url}" data-tokenization-key="${key}" data-variant="inline"></script>`,
  ],
])

/**
 * The element that loads a script. A kind of script that this storefront does not know is an error: a card typed into
 * fields of the store would pass through servers that must not see it.
 */
export function scriptElement(script: CardScript): Html {
  const driver = DRIVERS.get(script.driver)
  if (driver === undefined) throw new Error(`no driver ${script.driver} for card fields`)
  return driver(script)
}
