import { ASSET_REF } from '../../manifest/forms.ts'
import type { Product } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'
import { type Html, html, trusted } from './html.ts'

/** The widths that the platform makes of each image. */
const WIDTHS = [320, 480, 640, 960, 1_280, 1_920] as const

interface ImageOptions {
  /** The asset, as a manifest or a product names it. */
  ref: string | null
  alt: string
  /** The `sizes` attribute: how wide the page shows the image. */
  sizes: string
  /** Loads the image before the others. For the first one on a page. */
  eager?: boolean
}

/** The address of an asset. Null for another store's asset, and for none. */
export function assetUrl({ site, assetBaseUrl }: PageContext, ref: string | null): string | null {
  const [, owner, file] = ASSET_REF.exec(ref ?? '') ?? []
  return owner === site.tenant && file !== undefined
    ? `${assetBaseUrl ?? ''}/stores/${owner}/assets/${file}`
    : null
}

/**
 * Stands where a product or a section has no image: hills under a sun, in the store's own colours,
 * which `.no-image` sets. It fills any frame, whatever its shape.
 */
export const imageStandIn = (): Html => STAND_IN

const STAND_IN = trusted(
  '<svg class="no-image" viewBox="0 0 120 120" preserveAspectRatio="xMidYMid slice" aria-hidden="true"><circle class="no-image-far" cx="77" cy="45" r="8"/><path class="no-image-far" d="M-300 420V86C-40 86 22 82 44 56c9-11 17-11 26 0 14 17 28 28 350 30v334z"/><path class="no-image-near" d="M-300 420V92c270 0 330-2 352-14 12-7 22-7 34 0 20 12 60 14 334 14v328z"/></svg>',
)

/** An image in all its widths; a drawn stand-in where there is none. */
export function image(context: PageContext, { ref, alt, sizes, eager }: ImageOptions): Html {
  const url = assetUrl(context, ref)
  if (url === null) return imageStandIn()
  const set = WIDTHS.map((width) => `${url}?w=${width} ${width}w`).join(', ')
  return html`<img src="${url}?w=640" srcset="${set}" sizes="${sizes}" alt="${alt}" ${
    eager ? html`fetchpriority="high"` : html`loading="lazy"`
  } decoding="async">`
}

/** The alternative text of a product's image: its own, or the product's name. */
export const imageAlt = ({ images, name }: Product, at = 0): string => images[at]?.alt ?? name
