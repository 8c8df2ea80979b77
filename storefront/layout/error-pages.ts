import type { PageFiles } from '../http/static-files.ts'
import type { Locale } from '../translations/locale.ts'
import type { Texts } from '../translations/texts.ts'
import { type Html, html, trusted } from './html.ts'

/** Pages without a store's header and footer: they do not reveal which store was requested. */

interface ErrorPage {
  language: string
  title: string
  text: string
  files: PageFiles
  /** A link or a form that leads on. */
  action?: Html
}

/** The front of a shop. */
const STORE_ICON = trusted(
  '<svg viewBox="0 0 48 48" width="56" height="56" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true"><path d="M8 20v20h32V20M6 14l4-7h28l4 7v2a6 6 0 0 1-12 0 6 6 0 0 1-12 0 6 6 0 0 1-12 0z"/><path d="M16 40V28h16v12M21 34h6"/></svg>',
)

const page = ({ language, title, text, files, action }: ErrorPage): string =>
  html`<!doctype html>
<html lang="${language}" dir="ltr" data-header="left" data-hero="split" data-card="soft" data-density="regular" data-button="solid">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title>
<link rel="icon" href="${files.icon}" type="image/svg+xml"><link rel="stylesheet" href="${files.styleSheet}"></head>
<body class="error-page"><main id="main">${STORE_ICON}<h1>${title}</h1><p class="lead">${text}</p>${action}</main></body></html>
`.text

/** The page for a store that is not shown: the same for a draft, a suspended and an unknown one. */
export const storeNotFoundPage = (files: PageFiles, { texts, language }: Locale): string =>
  page({ files, language, title: texts.storeNotFound, text: texts.storeNotFoundNote })

export const previewEndedPage = (files: PageFiles, { texts, language }: Locale): string =>
  page({ files, language, title: texts.previewEnded, text: texts.previewEndedNote })

/** The page for a form that another site has sent, or that cannot be read. */
export const formRejectedPage = (files: PageFiles, { texts, language }: Locale): string =>
  page({
    files,
    language,
    title: texts.formRejected,
    text: texts.formRejectedNote,
    action: html`<p><a class="button" href="/">${texts.backToStore}</a></p>`,
  })

/** A form that the platform could not accept, to be sent again with all its fields. It never contains a card. */
export interface UnsentForm {
  action: string
  fields: readonly (readonly [name: string, value: string])[]
}

/** The page for a platform that cannot be reached. */
export function outagePage(
  files: PageFiles,
  { texts, language }: Locale,
  unsent: UnsentForm | null = null,
): string {
  const link = html`<p><a class="button" href="">${texts.tryAgain}</a></p>`
  const action = unsent === null ? link : sendAgainForm(texts, unsent)
  return page({ files, language, action, title: texts.outage, text: texts.outageNote })
}

const sendAgainForm = ({ tryAgain }: Texts, { action, fields }: UnsentForm): Html =>
  html`<form method="post" action="${action}">${fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="button">${tryAgain}</button></form>`

/** The main part for an address within a store that has no page. */
/** Says that the address has no page, and links to where the reader may find it: the products, or the orders. */
export const notFoundMain = (texts: Texts, text: string, isOrder: boolean): Html =>
  html`<div class="wrap narrow center"><h1>${isOrder ? texts.yourOrder : texts.notFound}</h1><div class="empty"><p>${text}</p><p>${
    isOrder
      ? html`<a class="button" href="/orders">${texts.findOrder}</a>`
      : html`<a class="button" href="/products">${texts.seeAllProducts}</a>`
  }</p></div></div>`
