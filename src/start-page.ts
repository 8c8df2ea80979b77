import { relative } from 'node:path'
import { readDemo } from './demo-file.ts'
import { addCreditPage, CREDIT, CREDIT_PATH } from './dev-credit.ts'
import { addMailPages } from './dev-mail.ts'
import { VERSION } from './http/openapi.ts'
import { sendPage } from './http/page.ts'
import type { App, Routes } from './http/route.ts'
import { type Html, html } from './kernel/html.ts'
import * as stores from './modules/stores/service.ts'
import type { Runtime } from './runtime.ts'

/** The first page that a person sees, at the address that a start prints. */

const STORES_MAX = 24

interface StartPageOptions {
  runtime: Runtime
  /** Whether this process serves the stores' pages as well. */
  hasStorefront: boolean
}

export const startRoutes =
  (options: StartPageOptions): Routes =>
  async (app) => {
    const { config } = options.runtime
    app.get('/', { config: { hidden: true } }, async (request, reply) => {
      reply.header('vary', 'accept')
      const wantsPage = request.headers.accept?.includes('text/html') ?? false
      if (!wantsPage) {
        return reply.send({
          name: 'Fairdock',
          version: VERSION,
          docs: '/docs',
          openapi: '/openapi.json',
        })
      }
      // At a public address a stranger learns only what every API client learns.
      const body = config.production ? reference() : await describeInstallation(app, options)
      return sendPage(reply, { title: 'Fairdock is running', body })
    })
    if (config.production) return
    addMailPages(app, options.runtime)
    // The page has a scope of its own: no route of the API reads forms.
    await app.register(async (pages) => addCreditPage(pages, options.runtime))
  }

const reference = () => html`<p class="quiet">Version ${VERSION}</p>
<p><a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI document</a></p>`

async function describeInstallation(
  app: App,
  { runtime, hasStorefront }: StartPageOptions,
): Promise<Html> {
  const demo = await readDemo(runtime.config)
  const dataDir = relative(process.cwd(), runtime.config.DATA_DIR) || '.'
  return html`<p class="quiet">Version ${VERSION}, for development. Nothing here costs money: payments are simulated.</p>
${hasStorefront && (await listStores(app, runtime))}
${hasStorefront && demo?.gift_card !== undefined && describeGiftCard(demo.tenant_ref, demo.gift_card)}
<h2>Build with it</h2>
<dl>
<dt>API</dt><dd><a href="/docs">API reference</a>, <a href="/openapi.json">OpenAPI document</a></dd>
<dt>Mails</dt><dd><a href="/dev/mail">What would have been sent</a>: to shoppers and to owners</dd>
<dt>Keys</dt><dd><code>${dataDir}/demo.json</code> has the merchant key and the owner's login of the demo store, <code>${dataDir}/secrets.json</code> the tokens of operator and storefront.</dd>
<dt>Stop</dt><dd><kbd>Ctrl</kbd> + <kbd>C</kbd> in the terminal. The data stays in <code>${dataDir}</code>.</dd>
</dl>`
}

/** Shows a gift card to pay with. Its code is in `demo.json`, like the merchant key. */
const describeGiftCard = (tenant: string, { code, balance }: { code: string; balance: string }) =>
  html`<h2>Try the checkout</h2>
<dl>
<dt>Gift card</dt><dd><code>${code}</code>, issued with ${balance}, for the store <code>${tenant}</code></dd>
<dt>Store credit</dt><dd>Order something there, then <a href="${CREDIT_PATH}">give yourself ${CREDIT}</a> for the next checkout</dd>
<dt>Coupon</dt><dd><code>WELCOME10</code> takes ten per cent off in the demo stores</dd>
<dt>Card</dt><dd><code>4111 1111 1111 1111</code> with any future date; <code>4000 0000 0000 0002</code> is declined</dd>
</dl>`

async function listStores(app: App, { config, operatorDatabase }: Runtime): Promise<Html> {
  const page = { limit: STORES_MAX, offset: 0 }
  const { stores: live } = await stores.list(operatorDatabase.allStores, { status: 'live' }, page)
  const cards = await Promise.all(
    live.map(async ({ tenant_ref, display_name }) => {
      const cover = await findCover(app, tenant_ref)
      const url = new URL(app.listeningOrigin)
      url.hostname = `${tenant_ref}.${config.storefrontZone}`
      return html`<li><a href="${url.href}">${cover && html`<img src="${cover}?w=640" alt="">`}<div><strong>${display_name}</strong><span class="quiet">${url.host}</span></div></a></li>`
    }),
  )
  return html`<h2>Stores</h2>
${
  cards.length === 0
    ? html`<p>The demo stores are being filled. <a href="/">Look again</a> in a few seconds.</p>`
    : html`<ul class="cards">${cards}</ul>`
}`
}

/** Finds the path of a picture of the store's newest product, as its public catalog has it. */
async function findCover(app: App, tenant: string): Promise<string | null> {
  const { body } = await app.inject(`/v1/tenants/${tenant}/catalog/products?limit=1`)
  const { products = [] } = JSON.parse(body) as { products?: { image_url?: string | null }[] }
  const url = products[0]?.image_url
  return url && URL.canParse(url) ? new URL(url).pathname : null
}
