import type { Product } from '../api/types.ts'
import { type Html, html } from '../layout/html.ts'
import { assetUrl } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'
import { COLOUR_WORDS, SEEN_OPTIONS } from './colour-words.ts'
import type { Choice, ChoiceGroup } from './product-options.ts'

/** The width of a picture: the least that the platform makes, and the one of the gallery's small images. */
const WIDTH = 320

/**
 * The swatches beside the texts of the choices, in their order: the picture of each variant, or else its colour; null
 * if the option is not a visible one. All choices of a group have swatches of the same form, or none.
 */
export function swatches(
  context: PageContext,
  { images }: Product,
  { name, choices }: ChoiceGroup,
): (Html | null)[] {
  const none = choices.map(() => null)
  if (name === null || !SEEN_OPTIONS.has(fold(name))) return none
  const own = new Set(images.map(({ asset_ref }) => asset_ref))
  const pictures = choices.map(({ variant: { image_asset_ref: ref } }) =>
    ref !== null && own.has(ref) ? assetUrl(context, ref) : null,
  )
  // The same picture for two colours would distinguish nothing.
  const areDifferent = new Set(pictures).size === pictures.length
  if (areDifferent && pictures.every((url) => url !== null)) return pictures.map(picture)
  const colours = choices.map(colourOf)
  return colours.every((colour) => colour !== null) ? colours.map(dot) : none
}

const fold = (text: string) => text.trim().toLowerCase()

/** The colour that the text of a choice names: all of it, else its last word, such as that of "light blue". */
function colourOf({ text }: Choice): string | null {
  const last =
    fold(text)
      .split(/[\s/-]+/)
      .at(-1) ?? ''
  return COLOUR_WORDS.get(fold(text)) ?? COLOUR_WORDS.get(last) ?? null
}

const picture = (url: string | null): Html =>
  html`<img class="swatch" src="${url}?w=${WIDTH}" alt="" width="52" height="52" loading="lazy" decoding="async">`

const dot = (colour: string | null): Html =>
  html`<svg class="swatch" viewBox="0 0 2 2" width="28" height="28" aria-hidden="true"><circle cx="1" cy="1" r="1" fill="${colour}"/></svg>`
