import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { type Html, html, trustedHtml } from '../kernel/html.ts'

/** Pages of the platform itself, for people. Pages of a store are the storefront's. */

/** The stylesheet of the platform's pages. Colours meet a contrast of 4.5 to 1 in both schemes. */
const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b2430; --quiet: #566173; --line: #dfe4ec;
  --wash: #f5f7fa; --accent: #0b5bd3; --on-accent: #fff; --fault: #a8321a; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151c; --ink: #e5eaf1; --quiet: #a2aebf;
  --line: #2a3442; --wash: #18202a; --accent: #7db4ff; --on-accent: #10151c; --fault: #ff9e85; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 3rem 1.25rem 5rem; }
main.narrow { max-width: 26rem; }
h1 { margin: 0 0 .5rem; font-size: 1.9rem; letter-spacing: -.02em; line-height: 1.2; }
h2 { margin: 2.5rem 0 .75rem; font-size: 1.2rem; }
p { max-width: 44rem; margin: .5rem 0; }
.quiet { color: var(--quiet); }
.fault { color: var(--fault); font-weight: 600; }
a { color: var(--accent); text-underline-offset: .18em; }
a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font: .9em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: var(--wash); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; }
label { display: block; margin: 1rem 0 .3rem; font-weight: 600; }
input { width: 100%; padding: .65rem .75rem; font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--quiet); border-radius: 8px; }
button { margin-top: 1.25rem; padding: .7rem 1.2rem; font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent); border: 0; border-radius: 8px; cursor: pointer; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1.25rem; padding: 0; list-style: none; }
.cards a { display: block; height: 100%; color: inherit; text-decoration: none; border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
.cards a:hover { border-color: var(--accent); }
.cards img { display: block; width: 100%; aspect-ratio: 3 / 2; object-fit: cover; background: var(--wash); }
.cards div { padding: .8rem 1rem 1rem; }
.cards strong { display: block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.25rem; margin: .5rem 0; }
dt { color: var(--quiet); } dd { margin: 0; }
iframe { display: block; border: 1px solid var(--line); border-radius: 8px; background: #fff; }
details { margin: .75rem 0 0; }
article h2 { margin-top: 0; }
article { margin: 1rem 0; overflow-wrap: anywhere; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 12px; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const FRAMES_POLICY = `${POLICY}; frame-src 'self'`

/** The store that a page speaks for. Colours are `#rrggbb`, and addresses are http(s). */
export interface PageBrand {
  name: string
  url: string | null
  logoUrl: string | null
  colours: BrandColours
  darkColours: BrandColours
}

type BrandColours = Readonly<
  Record<
    'background' | 'surface' | 'text' | 'muted' | 'line' | 'primary' | 'onPrimary' | 'link',
    string
  >
>

interface Page {
  title: string
  body: Html
  /** Whether the page is no more than a form: it is then shown in a narrow column. */
  isForm?: boolean
  /** The language of the page; English, unless the page speaks for a store. */
  language?: string | undefined
  /** Whether the page shows other pages of the platform in frames. */
  hasFrames?: boolean
  /** The store in whose name the page is shown; none if it is a page of the platform. */
  brand?: PageBrand | undefined
}

/** The colours of a store in place of ours. They were made readable where they were read. */
function brandStyle({ colours, darkColours }: PageBrand): string {
  const root = (of: BrandColours) =>
    `:root { --paper: ${of.background}; --ink: ${of.text}; --quiet: ${of.muted}; --line: ${of.line}; --wash: ${of.surface}; --accent: ${of.link}; --on-accent: ${of.onPrimary}; --fill: ${of.primary}; }`
  return `${root(colours)} @media (prefers-color-scheme: dark) { ${root(darkColours)} .brand img { background: #fff; padding: 6px 10px; border-radius: 6px; } } .bar { height: 6px; background: var(--fill); } .brand { margin: 0 0 2rem; font-size: 1.25rem; font-weight: 700; } .brand a { color: inherit; text-decoration: none; } .brand img { display: block; height: 44px; max-width: 240px; } button { background: var(--fill); }`
}

const brandHead = ({ name, url, logoUrl }: PageBrand): Html => {
  const shown =
    logoUrl === null ? html`${name}` : html`<img src="${logoUrl}" alt="${name}" height="44">`
  return html`<p class="brand">${url === null ? shown : html`<a href="${url}">${shown}</a>`}</p>`
}

const digestOf = (style: string): string => createHash('sha256').update(style).digest('base64')

/** The policy of a page: with the store's style and logo, where it speaks for one. */
function policyOf({ brand, hasFrames }: Page, style: string): string {
  const policy = hasFrames ? FRAMES_POLICY : POLICY
  if (brand === undefined) return policy
  const logo = brand.logoUrl === null ? null : URL.parse(brand.logoUrl)
  const images = logo === null ? '' : ` ${logo.origin}`
  return policy
    .replace("img-src 'self' data:", `img-src 'self' data:${images}`)
    .replace('style-src ', `style-src 'sha256-${digestOf(style)}' `)
}

/**
 * Sends a page. The browser sends its address to no other site, because the address may hold a token. It sends it to
 * our own, because without any referrer a browser would not say where a form comes from.
 */
export const sendPage = (reply: FastifyReply, page: Page) => {
  const { headers, text } = writePage(page)
  return reply.headers(headers).send(text)
}

/** Writes a page and its headers. */
export function writePage(page: Page): { headers: Record<string, string>; text: string } {
  const { title, body, brand, isForm = false, language = 'en' } = page
  const style = brand === undefined ? '' : brandStyle(brand)
  return {
    headers: {
      'content-security-policy': policyOf(page, style),
      'referrer-policy': 'same-origin',
      'content-type': 'text/html; charset=utf-8',
    },
    text: html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${trustedHtml(STYLE)}</style>${
      brand !== undefined &&
      html`
<style>${trustedHtml(style)}</style>`
    }
</head>
<body>
${brand !== undefined && html`<div class="bar"></div>`}<main${isForm && trustedHtml(' class="narrow"')}>
${brand !== undefined && brandHead(brand)}
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text,
  }
}
