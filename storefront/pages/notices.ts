import { type Html, html, trusted } from '../html.ts'
import type { Words } from '../words.ts'

/** Pages that belong to no store: nothing on them tells which store it might have been. */

interface Notice {
  language: string
  title: string
  text: string
  files: { script: string; sheet: string; icon: string }
  /** What leads on from here. */
  onward?: Html
}

/** A shop front with its awning. */
const SHUTTER = trusted(
  '<svg viewBox="0 0 48 48" width="56" height="56" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true"><path d="M8 20v20h32V20M6 14l4-7h28l4 7v2a6 6 0 0 1-12 0 6 6 0 0 1-12 0 6 6 0 0 1-12 0z"/><path d="M16 40V28h16v12M21 34h6"/></svg>',
)

const page = ({ language, title, text, files, onward }: Notice): string =>
  html`<!doctype html>
<html lang="${language}" data-header="left" data-hero="split" data-card="soft" data-density="regular" data-button="solid">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title>
<link rel="icon" href="${files.icon}" type="image/svg+xml"><link rel="stylesheet" href="${files.sheet}"></head>
<body class="alone"><main id="main">${SHUTTER}<h1>${title}</h1><p class="lead">${text}</p>${onward}</main></body></html>
`.text

type FileNames = Notice['files']

/** One page for a draft, a suspended and an unknown store. */
export const notAvailable = (files: FileNames, { say, language }: Words): string =>
  page({ files, language, title: say.notAvailable, text: say.notAvailableWords })

export const previewOver = (files: FileNames, { say, language }: Words): string =>
  page({ files, language, title: say.previewOver, text: say.previewOverWords })

/** A form that some other page sent, or no form at all. */
export const notOurs = (files: FileNames, { say, language }: Words): string =>
  page({
    files,
    language,
    title: say.outOfOrder,
    text: say.notOurs,
    onward: html`<p><a class="button" href="/">${say.backToStore}</a></p>`,
  })

/** A form that could not be taken: sent on, it loses nothing that was typed. Never with a card in it. */
export interface Unsent {
  action: string
  fields: readonly (readonly [name: string, value: string])[]
}

const again = ({ say }: Words, { action, fields }: Unsent): Html =>
  html`<form method="post" action="${action}">${fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="button">${say.tryAgain}</button></form>`

export const outOfOrder = (files: FileNames, words: Words, unsent: Unsent | null = null): string =>
  page({
    files,
    language: words.language,
    onward:
      unsent === null
        ? html`<p><a class="button" href="">${words.say.tryAgain}</a></p>`
        : again(words, unsent),
    title: words.say.outOfOrder,
    text: words.say.outOfOrderWords,
  })

/** Within a store: a page that is not there. */
export const missing = ({ say }: Words, text: string): Html =>
  html`<div class="wrap narrow center"><h1>${say.notFound}</h1><div class="empty"><p>${text}</p><p><a class="button" href="/products">${say.seeEverything}</a></p></div></div>`
