import { createHash } from 'node:crypto'
import { type Html, html, trustedHtml } from '../../kernel/html.ts'
import type { Row, Sheet, SheetSum } from './schema.ts'

/** The first renderer: a page that a browser prints. */

/** The colour is the only part that is not ours. It has the form `#rrggbb`. */
const styleOf = (colour: string): string => `
@page { size: A4; margin: 16mm 16mm 18mm; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem; max-width: 52rem; background: #fff; color: #1b2430;
  font: 10.5pt/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }
header { display: flex; gap: 2rem; justify-content: space-between; align-items: flex-start;
  padding-bottom: .9rem; border-bottom: 3px solid ${colour}; }
.brand { font-size: 1.35rem; font-weight: 700; color: ${colour}; overflow-wrap: anywhere; }
.brand img { display: block; max-width: 15rem; max-height: 4rem; }
.seller { margin: 0; padding: 0; list-style: none; font-size: .82em; color: #566173; text-align: end;
  overflow-wrap: anywhere; }
h1 { margin: 1.6rem 0 1rem; font-size: 1.5rem; }
h2 { margin: 0 0 .25rem; font-size: .82em; font-weight: 400; color: #566173; }
.notice { padding: .5rem .8rem; border: 2px solid #a8321a; color: #a8321a; font-weight: 700; }
.head { display: flex; flex-wrap: wrap; gap: 1.2rem 3rem; justify-content: space-between; }
.address { margin: 0; padding: 0; list-style: none; overflow-wrap: anywhere; max-width: 24rem; }
dl { display: grid; grid-template-columns: auto auto; gap: .1rem 1.2rem; margin: 0; align-content: start; }
dt { color: #566173; }
dd { margin: 0; text-align: end; overflow-wrap: anywhere; }
table { width: 100%; margin-top: 1.6rem; border-collapse: collapse; table-layout: fixed; }
th { padding: .4rem .3rem; text-align: start; font-size: .82em; font-weight: 600; color: ${colour};
  border-bottom: 1px solid ${colour}; }
td { padding: .5rem .3rem; vertical-align: top; border-bottom: 1px solid #dfe4ec;
  overflow-wrap: anywhere; }
tr { break-inside: avoid; }
thead { display: table-header-group; }
.end { text-align: end; font-variant-numeric: tabular-nums; }
.detail { display: block; font-size: .82em; color: #566173; }
.sums { width: 60%; margin: 1rem 0 0 auto; grid-template-columns: 1fr auto; gap: 0; break-inside: avoid; }
.sums dt, .sums dd { padding: .12rem .3rem; color: inherit; font-variant-numeric: tabular-nums; }
.sums .quiet { color: #566173; font-size: .9em; }
.sums .strong { font-weight: 700; border-top: 1px solid #1b2430; }
footer { margin-top: 2rem; font-size: .88em; color: #566173; overflow-wrap: anywhere; }
@media print { body { padding: 0; max-width: none; } }
@media (max-width: 34rem) { .sums { width: 100%; } header { flex-direction: column; } .seller { text-align: start; } }
`

export interface Page {
  html: string
  /** Allows the page's own style and its logo, and nothing else. */
  contentSecurityPolicy: string
}

/** Writes a sheet as a page. The logo is shown from its public address, if it has one. */
export function writePage(sheet: Sheet, logoUrl: string | null): Page {
  const style = styleOf(sheet.brand.colour)
  const imageSource = logoUrl === null ? "'none'" : new URL(logoUrl).origin
  return {
    html: `${pageOf(sheet, style, logoUrl).text}\n`,
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
      `img-src ${imageSource}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      'sandbox',
    ].join('; '),
  }
}

const pageOf = (sheet: Sheet, style: string, logoUrl: string | null): Html => html`<!doctype html>
<html lang="${sheet.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${sheet.title}</title>
<style>${trustedHtml(style)}</style>
</head>
<body>
<header><div class="brand">${brandOf(sheet, logoUrl)}</div>${listOf('seller', sheet.seller)}</header>
<main>
<h1>${sheet.title}</h1>
${sheet.notice !== null && html`<p class="notice">${sheet.notice}</p>`}
<div class="head">${addressOf(sheet)}${factsOf(sheet)}</div>
${tableOf(sheet)}
${sheet.sums.length > 0 && sumsOf(sheet.sums)}
</main>
<footer>${sheet.footer.map((line) => html`<p dir="auto">${line}</p>`)}</footer>
</body>
</html>`

const brandOf = ({ brand }: Sheet, logoUrl: string | null): Html =>
  logoUrl === null
    ? html`<bdi>${brand.name}</bdi>`
    : html`<img src="${logoUrl}" alt="${brand.name}">`

const listOf = (name: string, lines: readonly string[]): Html =>
  html`<ul class="${name}">${lines.map((line) => html`<li><bdi>${line}</bdi></li>`)}</ul>`

const addressOf = ({ address }: Sheet): Html =>
  address === null
    ? html`<div></div>`
    : html`<section><h2>${address.label}</h2>${listOf('address', address.lines)}</section>`

const factsOf = ({ facts }: Sheet): Html =>
  html`<dl>${facts.map(({ label, value }) => html`<dt>${label}</dt><dd><bdi>${value}</bdi></dd>`)}</dl>`

function tableOf({ columns, rows }: Sheet): Html {
  const classOf = (at: number) => (columns[at]?.align === 'end' ? 'end' : 'start')
  const head = columns.map(
    ({ label }, at) => html`<th scope="col" class="${classOf(at)}">${label}</th>`,
  )
  const cellsOf = ({ cells, details }: Row) =>
    cells.map(
      (cell, at) =>
        html`<td class="${classOf(at)}"><bdi>${cell}</bdi>${at === 0 && details.map((each) => html`<span class="detail"><bdi>${each}</bdi></span>`)}</td>`,
    )
  return html`<table>
<colgroup>${columns.map(({ width }) => html`<col width="${width}%">`)}</colgroup>
<thead><tr>${head}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cellsOf(row)}</tr>\n`)}</tbody>
</table>`
}

const sumsOf = (sums: readonly SheetSum[]): Html =>
  html`<dl class="sums">${sums.map(({ label, value, weight }) => html`<dt class="${weight}"><bdi>${label}</bdi></dt><dd class="end ${weight}">${value}</dd>`)}</dl>`
