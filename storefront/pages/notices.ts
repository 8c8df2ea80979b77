import { type Html, html } from '../html.ts'

/** Pages that belong to no store: nothing on them tells which store it might have been. */

interface Notice {
  title: string
  words: string
  files: { script: string; sheet: string; icon: string }
  /** What leads on from here. */
  onward?: Html
}

const page = ({ title, words, files, onward }: Notice): string =>
  html`<!doctype html>
<html lang="en" data-header="left" data-hero="split" data-card="soft" data-density="regular" data-button="solid">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title>
<link rel="icon" href="${files.icon}" type="image/svg+xml"><link rel="stylesheet" href="${files.sheet}"></head>
<body class="alone"><main id="main"><h1>${title}</h1><p class="lead">${words}</p>${onward}</main></body></html>
`.text

type FileNames = Notice['files']

/** One page for a draft, a suspended and an unknown store. */
export const notAvailable = (files: FileNames): string =>
  page({
    files,
    title: 'This store is not available',
    words: 'There is no open store at this address. Please check it, or come back later.',
  })

export const previewOver = (files: FileNames): string =>
  page({
    files,
    title: 'This preview is over',
    words: 'Its link has expired or is not complete. Please ask for a new one.',
  })

/** A form that could not be taken: sent on, it loses nothing that was typed. Never with a card in it. */
export interface Unsent {
  action: string
  fields: readonly (readonly [name: string, value: string])[]
}

const again = ({ action, fields }: Unsent): Html =>
  html`<form method="post" action="${action}">${fields.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button class="button">Try again</button></form>`

export const outOfOrder = (files: FileNames, unsent: Unsent | null = null): string =>
  page({
    files,
    onward: unsent === null ? html`<p><a class="button" href="">Try again</a></p>` : again(unsent),
    title: 'One moment, please',
    words: 'The store cannot be reached just now. Nothing is lost; it will be back shortly.',
  })

/** Within a store: a page that is not there. */
export const missing = (words: string): Html =>
  html`<div class="wrap narrow center"><h1>Not found</h1><div class="empty"><p>${words}</p><p><a class="button" href="/products">See everything</a></p></div></div>`
