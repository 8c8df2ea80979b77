import { rhythmOf } from '../catalog/purchase-plan.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import type { CartLine } from './cart-lines.ts'

/** Says of a line how often it is sent. Null for one that is bought once. */
export function planNote({ site }: PageContext, line: CartLine): Html | null {
  const rhythm = line.isRepeated ? rhythmOf(site, line.product, line.variant) : null
  return rhythm === null
    ? null
    : html`<span class="line-plan">${site.locale.texts.buying.repeated({ rhythm })}</span>`
}

/** The button that changes a line between once and again and again; null where it is sold once only. */
export function planSwitch({ site }: PageContext, line: CartLine): Html | null {
  const rhythm = rhythmOf(site, line.product, line.variant)
  if (rhythm === null) return null
  const { toOnce, toRepeated } = site.locale.texts.buying
  return html`<button class="link-button" name="plan" value="${line.key}">${line.isRepeated ? toOnce : toRepeated({ every: rhythm })}</button>`
}
