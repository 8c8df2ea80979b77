import type { Product, ProductImage } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { assetUrl, image, imageStandIn } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'

/** On a phone, dots stand for this many images at most. Beyond it, small images do. */
const DOTS_MAX = 8

/** A product's image, and its number among all images, by which it is found in the page. */
interface Shot {
  ref: string
  alt: string
  number: number
}

/**
 * The images of a product: one row that is swiped, and a link to each of them. `firstRef` is shown
 * first, such as the image of the chosen variant.
 */
export function gallery(context: PageContext, product: Product, firstRef: string | null): Html {
  const shots = shotsOf(context, product)
  const first = shots.filter(({ ref }) => ref === firstRef)
  const shown = [...first, ...shots.filter((each) => !first.includes(each))]
  if (shown.length === 0) return html`<div class="shots">${imageStandIn(product.name)}</div>`
  const { texts } = context.site.locale
  return html`<div class="shots"><ul class="slides" data-slides data-close="${texts.close}" data-previous="${texts.previousImage}" data-next="${texts.nextImage}">${shown.map(
    (each, at) => slide(context, each, { at, count: shown.length }),
  )}</ul>${shown.length > 1 && thumbnails(context, shown)}</div>`
}

/** The images of a product, without those that belong to another store: they have no address. */
const shotsOf = (context: PageContext, { images, name }: Product): Shot[] =>
  images.flatMap(({ asset_ref: ref, alt }: ProductImage, at) =>
    assetUrl(context, ref) === null ? [] : [{ ref, alt: alt ?? name, number: at + 1 }],
  )

interface Place {
  at: number
  count: number
}

/** Renders one image, as a link that opens the large image; the script opens it in a dialog. */
function slide(context: PageContext, { ref, alt, number }: Shot, { at, count }: Place): Html {
  const { texts } = context.site.locale
  const picture = image(context, {
    ref,
    alt,
    sizes: '(min-width: 80rem) 40rem, (min-width: 52rem) 52vw, 100vw',
    eager: at === 0,
  })
  return html`<li id="image-${number}" data-ref="${ref}">${count > 1 && html`<span class="hidden">${texts.imageOf({ at: at + 1, count })}</span>`}<a class="zoomable" href="${assetUrl(context, ref)}?w=1920" aria-label="${texts.enlarge({ name: alt })}">${picture}</a></li>`
}

function thumbnails(context: PageContext, shots: readonly Shot[]): Html {
  const { texts } = context.site.locale
  const count = shots.length
  return html`<ol class="thumbs"${count > DOTS_MAX && html` data-many`}>${shots.map(
    ({ ref, number }, at) =>
      html`<li><a href="#image-${number}" aria-label="${texts.imageOf({ at: at + 1, count })}">${image(context, { ref, alt: '', sizes: '5rem' })}</a></li>`,
  )}</ol>`
}
