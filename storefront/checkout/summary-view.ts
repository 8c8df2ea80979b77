import type { Quote } from '../api/types.ts'
import type { CartLine } from '../cart/cart-lines.ts'
import { planNote } from '../cart/plan-note.ts'
import { giftNote } from '../layout/gift-note.ts'
import { type Html, html } from '../layout/html.ts'
import { image, variantImage } from '../layout/images.ts'
import { couponNote, freeShippingNote, totalsList } from '../layout/totals.ts'
import type { PageContext } from '../request-context.ts'
import type { TenderSplit } from './tenders.ts'

export interface SummaryView {
  lines: readonly CartLine[]
  quote: Quote
  tenders: TenderSplit
  /** The path of the form. Below it, `/update` shows the form again. */
  path: string
}

/**
 * The items and their price. On a phone it is folded to one line with the total, so that the form begins on the first
 * screen; a wide page shows all of it.
 */
export function orderSummary(context: PageContext, view: SummaryView): Html {
  const { quote, tenders, path } = view
  const { texts, formatMoney } = context.site.locale
  // The message about an entered code must be visible.
  const isOpen = quote.coupon.code !== null
  return html`<aside class="summary" id="summary" aria-label="${texts.yourOrder}"><details class="fold"${isOpen && html` open`}><summary><span class="fold-name">${texts.summary}</span><span class="fold-total" id="summary-total">${formatMoney(quote.total_cents, quote.currency)}</span></summary>
<div class="fold-body" id="summary-body"><h2>${texts.yourOrder}</h2><input type="hidden" name="due" value="${tenders.due_cents}"><ul class="lines lines-small">${view.lines.map((line) => summaryLine(context, line))}</ul>
<div class="coupon"><label class="field"><span>${texts.discountCode}</span><input name="coupon" value="${quote.coupon.code}" maxlength="64" autocomplete="off" autocapitalize="characters"></label><button class="button button-quiet" formaction="${path}/update" formnovalidate data-reprice>${texts.apply}</button></div>
${couponNote(texts, quote)}${totalsList(context, quote, quote.coupon.code)}${tenderTotals(context, view)}${freeShippingNote(context, quote)}</div></details>
<noscript><button class="button button-quiet" formaction="${path}/update" formnovalidate>${texts.updateTotal}</button></noscript></aside>`
}

function summaryLine(context: PageContext, line: CartLine): Html {
  const { product, variant, quantity, quoted, gift } = line
  const { formatMoney } = context.site.locale
  const { name } = product
  const shown = image(context, { ...variantImage(product, variant), sizes: '4rem', name })
  const total = quoted?.line_total_cents ?? quantity * variant.price_cents
  return html`<li class="line"><span class="line-image">${shown}</span><div class="line-text"><span class="line-name">${name}</span><span class="line-label">${variant.label && `${variant.label} · `}${quantity}\u00a0×</span>${planNote(context, line)}${variant.gift_card && giftNote(context, gift)}</div><span class="line-total">${formatMoney(total, variant.currency)}</span></li>`
}

/** The amounts that store credit and a gift card pay, and the rest for a card. */
function tenderTotals({ site }: PageContext, { tenders, quote }: SummaryView): Html | null {
  const { store_credit_cents, giftCard, due_cents } = tenders
  // It may pay nothing: store credit has paid for everything that it could.
  const byGiftCard = giftCard === null || giftCard.cents === 0 ? null : giftCard
  if (store_credit_cents === 0 && byGiftCard === null) return null
  const { texts, formatMoney } = site.locale
  const money = (cents: number) => formatMoney(cents, quote.currency)
  return html`<dl class="totals">${store_credit_cents > 0 && html`<div><dt>${texts.storeCredit}</dt><dd>−${money(store_credit_cents)}</dd></div>`}${
    byGiftCard &&
    html`<div><dt>${texts.giftCardEnding({ last4: byGiftCard.last4 })}</dt><dd>−${money(byGiftCard.cents)}</dd></div>`
  }<div class="totals-final"><dt>${texts.dueByCard}</dt><dd data-due>${money(due_cents)}</dd></div></dl>`
}
