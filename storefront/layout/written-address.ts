import { addressLines } from '../../manifest/address-lines.ts'
import type { Address } from '../api/types.ts'
import type { Locale } from '../translations/locale.ts'
import { type Html, html } from './html.ts'

/** The lines of an address, as the post of its country writes them. */
export const writtenAddress = ({ countryName }: Locale, address: Address): readonly Html[] =>
  addressLines(address, countryName).map(
    (line) => html`<span class="address-line"><bdi>${line}</bdi></span>`,
  )
