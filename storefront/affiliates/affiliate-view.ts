import type { AffiliatePage, AffiliateProgram } from '../api/affiliate-api.ts'
import { textField } from '../layout/fields.ts'
import { type Html, html } from '../layout/html.ts'
import type { PageContext } from '../request-context.ts'
import { findText } from '../translations/error-messages.ts'

/** The entries of the application form, for when it is shown again. */
export interface Applied {
  name: string
  email: string
  website: string
  message: string
}

interface ApplyView {
  program: AffiliateProgram
  entered: Applied
  error: string | null
}

const MESSAGE_MAX = 2_000

export function applyMain(context: PageContext, { program, entered, error }: ApplyView): Html {
  const { texts } = context.site.locale
  const words = texts.affiliates
  const name = { name: 'name', label: words.name, autocomplete: 'name', pair: true }
  const email = {
    name: 'email',
    label: texts.email,
    autocomplete: 'email',
    type: 'email',
    pair: true,
  }
  const website = {
    name: 'website',
    label: words.website,
    autocomplete: 'url',
    inputmode: 'url',
    optional: true,
  }
  return html`<div class="wrap narrow list"><header class="list-head"><h1>${words.title}</h1><p class="lead">${words.intro({ commission: commissionText(context, program) })}</p></header>
${error !== null && html`<p class="error error-box" role="alert" tabindex="-1" data-focus>${error}</p>`}
<form method="post" action="/affiliates"><div class="fields">${textField(name, entered.name)}${textField(email, entered.email)}${textField(website, entered.website)}
<label class="field"><span>${words.message}</span><textarea name="message" maxlength="${MESSAGE_MAX}" rows="4" autocomplete="off">${entered.message}</textarea></label></div><button class="button">${words.apply}</button></form></div>`
}

export function sentMain({ site }: PageContext): Html {
  const { texts } = site.locale
  return html`<div class="wrap narrow list"><header class="list-head"><h1>${texts.affiliates.title}</h1></header><p class="success success-box" role="status">${texts.affiliates.sent}</p><p><a class="more" href="/products">${texts.backToStore}</a></p></div>`
}

type Earning = Pick<AffiliateProgram, 'commission_type' | 'rate_bps' | 'amount_cents' | 'currency'>

/** The commission of an order: a rate, or an amount. */
const commissionText = ({ site }: PageContext, program: Earning): string =>
  program.commission_type === 'percent'
    ? site.locale.formatRate(program.rate_bps ?? 0)
    : site.locale.formatMoney(program.amount_cents ?? 0, program.currency)

export function affiliateMain(context: PageContext, page: AffiliatePage): Html {
  const { texts } = context.site.locale
  const words = texts.affiliates
  return html`<div class="wrap narrow order"><header class="order-head"><p class="eyebrow">${words.yours}</p><h1>${page.name}</h1><p class="lead">${page.status === 'suspended' ? words.suspended : words.earns({ commission: commissionText(context, page) })}</p></header>
${balances(context, page)}
<section><h2>${words.codes}</h2>${page.codes.length === 0 ? html`<p>${words.noCodes}</p>` : html`<ul class="lines lines-plain">${page.codes.map((each) => codeLine(context, each))}</ul>`}</section>
<section><h2>${words.commissions}</h2>${page.commissions.length === 0 ? html`<p>${words.noCommissions}</p>` : html`<ul class="lines lines-plain">${page.commissions.map((each) => commissionLine(context, each))}</ul>`}</section>
<section><h2>${words.payouts}</h2>${page.payouts.length === 0 ? html`<p>${words.noPayouts}</p>` : html`<ul class="lines lines-plain">${page.payouts.map((each) => payoutLine(context, each))}</ul>`}</section></div>`
}

function balances({ site }: PageContext, page: AffiliatePage): Html {
  const { texts, formatMoney } = site.locale
  const words = texts.affiliates
  const fact = (name: string, cents: number, currency: string) =>
    html`<div><dt>${name}</dt><dd>${formatMoney(cents, currency)}</dd></div>`
  const zero = {
    currency: page.currency,
    pending_cents: 0,
    approved_cents: 0,
    in_payout_cents: 0,
    paid_cents: 0,
  }
  const shown = page.balances.length === 0 ? [zero] : page.balances
  return html`${shown.map(
    (each) =>
      html`<dl class="facts" data-currency="${each.currency}">${fact(words.pending, each.pending_cents, each.currency)}${fact(words.approved, each.approved_cents, each.currency)}${fact(words.inPayout, each.in_payout_cents, each.currency)}${fact(words.paid, each.paid_cents, each.currency)}</dl>`,
  )}`
}

function codeLine(
  { site, origin }: PageContext,
  { code, active, clicks }: AffiliatePage['codes'][number],
): Html {
  const { affiliates: words, affiliateClicks } = site.locale.texts
  const link = `${origin}/?ref=${code}`
  return html`<li class="line"><span class="line-text"><strong>${code}</strong> ${active ? html`<a href="${link}">${link}</a>` : words.codeEnded}</span><span class="line-total">${affiliateClicks({ count: clicks })}</span></li>`
}

function commissionLine(
  { site }: PageContext,
  { type, status, amount_cents, currency, created_at }: AffiliatePage['commissions'][number],
): Html {
  const { texts, formatMoney, formatDate } = site.locale
  const words = texts.affiliates
  return html`<li class="line"><time datetime="${created_at}">${formatDate(created_at)}</time><span class="line-label">${findText(words.types, type) ?? type}, ${findText(words.statuses, status) ?? status}</span><span class="line-total">${formatMoney(amount_cents, currency)}</span></li>`
}

function payoutLine(
  { site }: PageContext,
  { status, amount_cents, currency, created_at, reference }: AffiliatePage['payouts'][number],
): Html {
  const { texts, formatMoney, formatDate } = site.locale
  const words = texts.affiliates
  return html`<li class="line"><time datetime="${created_at}">${formatDate(created_at)}</time><span class="line-label">${reference}, ${findText(words.payoutStatuses, status) ?? status}</span><span class="line-total">${formatMoney(amount_cents, currency)}</span></li>`
}
