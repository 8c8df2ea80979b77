import type { Quote } from '../api/types.ts'
import type { CartLine } from '../cart/cart-lines.ts'
import { coming, DATES } from '../catalog/purchase-plan.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import type { Site } from '../site/site.ts'
import type { SummaryView } from './summary-view.ts'

/**
 * What is charged again after this order, and when: above the button that pays. Empty where nothing is, and before the
 * address is known that the tax depends on: that button does not pay yet.
 */
export function renewalsNote(
  { site }: PageContext,
  {
    lines,
    quote,
    awaitsAddress,
  }: Pick<SummaryView, 'lines' | 'quote'> & { awaitsAddress: boolean },
): Html {
  const { renewals, currency } = quote
  const { buying } = site.locale.texts
  const isTaxedAnew = renewals.some(({ is_estimate }) => is_estimate)
  return html`<div id="renewals">${
    !awaitsAddress &&
    renewals.length > 0 &&
    html`<div class="panel renewals"><p><strong>${buying.chargedAgain}</strong></p><ul>${renewals.map((each) => html`<li>${renewalText(site, nameOf(lines, each), each, currency)}</li>`)}</ul><p class="note">${buying.chargedWith}${isTaxedAnew && ` ${buying.taxAnew}`}</p></div>`
  }</div>`
}

type Renewal = Quote['renewals'][number]

const nameOf = (lines: readonly CartLine[], { variant_id }: Renewal): string =>
  lines.find(({ variant }) => variant.id === variant_id)?.product.name ?? ''

/** "House Coffee (every month), 2 ×: $32.65 on December 19, 2026 and January 19, 2027". */
function renewalText(site: Site, name: string, renewal: Renewal, currency: string): Html {
  const { texts, formatMoney, formatList } = site.locale
  const { interval, interval_count, quantity, amount_cents, is_estimate } = renewal
  const amount = formatMoney(amount_cents, currency)
  const units = quantity === 1 ? '' : `, ${quantity}\u00a0×`
  const dates = formatList(coming(site, renewal, DATES))
  return html`${name} (${texts.every[interval]({ count: interval_count })})${units}: <strong>${is_estimate ? texts.buying.about({ amount }) : amount}</strong> ${texts.buying.chargedOn({ dates })}`
}
