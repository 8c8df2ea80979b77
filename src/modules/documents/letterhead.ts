import { type Colour, formatColour, parseColour, readableColour } from '../../../manifest/colour.ts'
import { ASSET_REF } from '../../../manifest/forms.ts'
import { LEGAL_PROPS } from '../../../manifest/legal-props.ts'
import { mailTo } from '../../../manifest/links.ts'
import { readProps } from '../../../manifest/read-props.ts'
import type { Letterhead } from './schema.ts'

const NAME_LENGTH_MAX = 200

/** Lines of an address. More would push the goods off the page. */
const SELLER_LINES_MAX = 10

const WHITE: Colour = [255, 255, 255]
const BLACK: Colour = [17, 17, 17]

/** Reads a value as an object. A manifest may hold anything, so nothing of it is used without a check. */
const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}

const lineOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== ''
    ? value.slice(0, NAME_LENGTH_MAX).toWellFormed()
    : null

/** Reads how a store shows itself on paper from its active manifest, which is null without a published site. */
export function letterheadOf(manifest: unknown, displayName: string): Letterhead {
  const { brand, theme, legal } = objectOf(manifest)
  const { name, email, logoRef } = objectOf(brand)
  const said = readProps(LEGAL_PROPS, objectOf(legal))
  const brandName = lineOf(name) ?? displayName
  const contact = said.email ?? lineOf(email)
  const seller = [
    said.name ?? brandName,
    ...(said.address?.split('\n') ?? []).map((each) => each.trim()),
    said.phone,
    mailTo(contact) === null ? null : contact,
    said.registration,
    said.taxId,
  ].filter((each) => each !== null && each !== '')
  return {
    name: brandName,
    colour: inkOf(objectOf(objectOf(theme).color).primary),
    logo_ref: typeof logoRef === 'string' && ASSET_REF.test(logoRef) ? logoRef : null,
    seller: (seller as string[]).slice(0, SELLER_LINES_MAX),
    note: said.note,
  }
}

/** The store's colour, dark enough to be read on paper. */
const inkOf = (value: unknown): string =>
  formatColour(readableColour(parseColour(value) ?? BLACK, WHITE, BLACK))
