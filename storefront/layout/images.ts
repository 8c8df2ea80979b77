import { ASSET_REF } from '../../manifest/forms.ts'
import type { Product, Variant } from '../api/types.ts'
import type { PageContext } from '../request-context.ts'
import { type Html, html } from './html.ts'

/** The widths that the platform makes of each image. */
const WIDTHS = [320, 480, 640, 960, 1_280, 1_920] as const

interface ImageOptions {
  /** The asset, as a manifest or a product names it. */
  ref: string | null
  alt: string
  /** The `sizes` attribute: how wide the page shows the image. */
  sizes: string
  /** The subject of the image: its first letter is drawn if there is no image. */
  name?: string
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

/** An image in all its widths; a drawn stand-in without one. */
export function image(context: PageContext, { ref, alt, sizes, name, eager }: ImageOptions): Html {
  const url = assetUrl(context, ref)
  if (url === null) return imageStandIn(name ?? alt)
  const set = WIDTHS.map((width) => `${url}?w=${width} ${width}w`).join(', ')
  return html`<img src="${url}?w=640" srcset="${set}" sizes="${sizes}" alt="${alt}" ${
    eager ? html`fetchpriority="high"` : html`loading="lazy"`
  } decoding="async">`
}

/**
 * Stands in for a missing image: the first letter of its subject's name, in the store's colours. It is decoration,
 * since the name stands beside it.
 */
export const imageStandIn = (name: string): Html =>
  html`<svg class="no-image" viewBox="0 0 100 100" preserveAspectRatio="xMidYMid slice" aria-hidden="true"><circle cx="50" cy="50" r="27"/><text x="50" y="50" dy="0.36em" text-anchor="middle">${firstLetter(name)}</text></svg>`

const firstLetter = (name: string): string =>
  /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0]?.toUpperCase() ?? ''

/** The image that shows a variant: its own, else the main one of its product. */
export function variantImage(product: Product, variant: Variant | undefined) {
  const own = product.images.findIndex(
    ({ asset_ref }) => asset_ref === (variant?.image_asset_ref ?? null),
  )
  const ref = product.images[own]?.asset_ref ?? product.image_asset_ref
  return { ref, alt: imageAlt(product, Math.max(own, 0)) }
}

/** The alternative text of a product's image: its own, or the product's name. */
export const imageAlt = ({ images, name }: Product, at = 0): string => images[at]?.alt ?? name
