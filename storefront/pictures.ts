import { type Html, html } from './html.ts'
import type { Product } from './types.ts'
import type { Phrases } from './words/en.ts'

/** The widths that the platform makes. */
const WIDTHS = [320, 480, 640, 960, 1_280, 1_920] as const

const REF = /^asset:([a-z0-9-]{3,63})\/([0-9a-f]{64}\.[a-z]{3,4})$/

interface Shown {
  ref: string | null
  alt: string
  /** How wide it is shown, as the browser is told. */
  sizes: string
  /** The first picture that is seen: fetched before the others. */
  eager?: boolean
  /** Where the full picture is to be opened by whoever wants to look closely: the words for it. */
  zoom?: Pick<Phrases, 'enlarge' | 'picture' | 'close'>
  class?: string
}

/** From here, or from where the platform says pictures are. Null for another store's, or for none. */
export function sourceOf(ref: string | null, tenant: string, cdn: string | null): string | null {
  const [, owner, file] = REF.exec(ref ?? '') ?? []
  return owner === tenant && file !== undefined
    ? `${cdn ?? ''}/stores/${tenant}/assets/${file}`
    : null
}

/** Where to find pictures of a store. */
export interface Album {
  tenant: string
  cdn: string | null
}

/** A picture in as many widths as there are; a quiet plate where there is none. */
export function picture({ tenant, cdn }: Album, shown: Shown): Html {
  const source = sourceOf(shown.ref, tenant, cdn)
  const style = shown.class ?? ''
  if (source === null) return html`<div class="plate ${style}" aria-hidden="true"></div>`
  const set = WIDTHS.map((width) => `${source}?w=${width} ${width}w`).join(', ')
  return html`<img class="${style}" src="${source}?w=640" srcset="${set}" sizes="${shown.sizes}" alt="${shown.alt}" ${
    shown.eager ? html`fetchpriority="high"` : html`loading="lazy"`
  } decoding="async"${shown.zoom && zoomOf(source, shown.alt, shown.zoom)}>`
}

/** For the script, which has no words of its own. */
const zoomOf = (source: string, alt: string, say: NonNullable<Shown['zoom']>): Html =>
  html` data-zoom="${source}" data-enlarge="${say.enlarge(alt || say.picture)}" data-close="${say.close}"`

/** The words for a product's picture: its own, or the product's name. */
export const altOf = ({ images, name }: Product, at = 0): string => images[at]?.alt ?? name
