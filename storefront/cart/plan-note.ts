import { rhythmOf } from '../catalog/purchase-plan.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import type { CartLine } from './cart-lines.ts'

/** Says how often a line is delivered. Null for a single purchase. */
export function planNote({ site }: PageContext, line: CartLine): Html | null {
  const rhythm = line.isRepeated ? rhythmOf(site, line.product, line.variant) : null
  return rhythm === null
    ? null
    : html`<span class="line-plan">${site.locale.texts.buying.repeated({ rhythm })}</span>`
}

/** The button that changes a line between a single purchase and a subscription; null if it cannot be subscribed to. */
export function planSwitch({ site }: PageContext, line: CartLine): Html | null {
  const rhythm = rhythmOf(site, line.product, line.variant)
  if (rhythm === null) return null
  const { toOnce, toRepeated } = site.locale.texts.buying
  return html`<button class="link-button" name="plan" value="${line.key}">${line.isRepeated ? toOnce : toRepeated({ every: rhythm })}</button>`
}
