import { createHash } from 'node:crypto'
import { type Html, html, trustedHtml } from '../kernel/html.ts'
import {
  type ApiDocument,
  type Content,
  type Operation,
  type ResponseObject,
  readFailures,
  resolveResponse,
  type Shape,
} from './api-document.ts'
import { readDocument } from './openapi.ts'
import { INTRODUCTION } from './reference-intro.ts'
import { prose, type Side, shapeTree, typeLine } from './reference-shapes.ts'
import { REFERENCE_STYLE } from './reference-style.ts'
import type { App, Plane } from './route.ts'

/** The policy of a page that loads nothing and runs nothing: its only stylesheet is allowed by its hash. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(REFERENCE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Serves the API reference at `/docs`, made once from the OpenAPI document. Why without script: decision 0016. */
export function describePages(app: App): void {
  let bytes: Buffer | undefined
  app.get('/docs', { config: { plane: 'public', hidden: true } }, async (_, reply) => {
    bytes ??= Buffer.from(renderReference(await readDocument(app)))
    return reply
      .headers({
        'content-security-policy': CONTENT_SECURITY_POLICY,
        'referrer-policy': 'no-referrer',
      })
      .type('text/html; charset=utf-8')
      .send(bytes)
  })
}

interface Entry {
  id: string
  method: string
  path: string
  operation: Operation
  responses: [status: string, response: ResponseObject][]
}

export function renderReference(document: ApiDocument): string {
  const groups = groupByTag(document)
  const shapes = Object.entries(document.components.schemas)
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${document.info.title} API reference</title>
<style>${trustedHtml(REFERENCE_STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<div class="layout">
<header>
<h1>${document.info.title} API reference</h1>
<p>Version ${document.info.version} · <a href="/openapi.json">OpenAPI 3.1 document</a></p>
</header>
${navigation(groups)}
<main id="content">
${INTRODUCTION}
${groups.map(({ tag, text, entries }) => section(tag, text, entries))}
<section id="shapes" aria-labelledby="shapes-title">
<h2 id="shapes-title">Shapes</h2>
<p>Shapes that more than one operation uses.</p>
${shapes.map(([name, shape]) => shapeArticle(name, shape))}
</section>
</main>
</div>
</body>
</html>
`
  return page.text
}

function groupByTag(document: ApiDocument) {
  const entries: Entry[] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      id: operation.operationId ?? `${method}-${path}`,
      method,
      path,
      operation,
      responses: Object.entries(operation.responses).map(([status, response]) => [
        status,
        resolveResponse(document, response),
      ]),
    })),
  )
  return document.tags.map(({ name, description }) => ({
    tag: name,
    text: description,
    entries: entries.filter(({ operation }) => operation.tags?.includes(name)),
  }))
}

const CHAPTERS = [
  ['authentication', 'Authentication'],
  ['errors', 'Errors'],
  ['pagination', 'Pagination'],
  ['idempotency', 'Idempotency'],
  ['correlation', 'Correlation ids'],
] as const

function navigation(groups: ReturnType<typeof groupByTag>): Html {
  const link = (id: string, text: Html | string) => html`<li><a href="#${id}">${text}</a></li>`
  const links = html`<a class="group" href="#authentication">Basics</a>
<ul>${CHAPTERS.map(([id, text]) => link(id, text))}</ul>
${groups.map(
  ({ tag, entries }) => html`<a class="group" href="#tag-${tag}">${title(tag)}</a>
<ul>${entries.map(({ id, method, operation }) =>
    link(
      id,
      html`<span class="method ${method}">${method}</span><span>${headline(operation.summary ?? id)}</span>`,
    ),
  )}</ul>`,
)}
<a class="group" href="#shapes">Shapes</a>`
  // A phone shows the list folded, a wide screen unfolded. Only one of the two is ever visible.
  return html`<nav aria-label="Contents">
<details class="narrow"><summary>Contents</summary>${links}</details>
<div class="wide">${links}</div>
</nav>`
}

const title = (tag: string) => {
  const words = tag.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** The first sentence of a summary, without its full stop. */
const headline = (summary: string) => (summary.split('. ')[0] ?? summary).replace(/\.$/, '')

const section = (tag: string, text: string | undefined, entries: Entry[]) => html`
<section id="tag-${tag}" aria-labelledby="tag-${tag}-title">
<h2 id="tag-${tag}-title">${title(tag)}</h2>
${text === undefined ? null : html`<p>${prose(text)}</p>`}
${entries.map(article)}
</section>`

function article({ id, method, path, operation, responses }: Entry): Html {
  const { summary = id, description, parameters = [], requestBody } = operation
  const heading = headline(summary)
  const rest = summary.slice(heading.length).replace(/^\.\s*/, '')
  return html`
<article id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title">${prose(heading)}</h3>
<p class="endpoint"><span class="method ${method}">${method}</span><code>${path}</code></p>
<p class="who">${callers(operation)}</p>
${[rest, description ?? ''].filter((text) => text !== '').map((text) => html`<p>${prose(text)}</p>`)}
${parameters.length > 0 && html`<h4>Parameters</h4>${parameterTree(parameters)}`}
${requestBody && html`<h4>Request body</h4>${shapeOf(requestBody.content, 'request')}`}
${responses
  .filter(([status]) => Number(status) < 400)
  .map(
    ([status, { description: said, content }]) =>
      html`<h4>Answer ${status}</h4>${content ? shapeOf(content, 'answer') : html`<p>${prose(said)}</p>`}`,
  )}
${errorTable(responses.filter(([status]) => Number(status) >= 400))}
</article>`
}

const PLANES: Record<Plane, string> = {
  public: 'No credential is needed.',
  storefront: 'For storefront servers, with the storefront token.',
  merchant: 'For merchants, with a key',
  owner: 'For owners, with a session.',
  operator: 'For the operator, with the operator token.',
}

function callers(operation: Operation): Html {
  const plane = operation['x-plane'] ?? 'public'
  if (plane !== 'merchant') return html`${PLANES[plane]}`
  const scope = operation['x-scope'] ?? 'any'
  const orOwner = operation.security?.some((each) => 'ownerSession' in each)
  return html`${PLANES.merchant} ${
    scope === 'any' ? 'of any scope' : html`of scope <code>${scope}</code>`
  }${orOwner && ', or its owner with a session'}.`
}

const parameterTree = (parameters: NonNullable<Operation['parameters']>) =>
  html`<ul class="tree">${parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<li><code class="name">${name}</code> <span class="type">in the ${place},</span> ${typeLine(schema)}${
        required && html` <span class="need">required</span>`
      }${description !== undefined && html`<div class="note">${prose(description)}</div>`}</li>`,
  )}</ul>`

function shapeOf(content: Content, side: Side): Html {
  return html`${Object.entries(content).map(([type, { schema, example }]) =>
    type === 'application/json'
      ? html`${shapeTree(schema, side)}${example !== undefined && exampleOf(example)}`
      : html`<p class="type">${type}</p>${shapeTree(schema, side)}`,
  )}`
}

const exampleOf = (example: unknown): Html =>
  html`<details><summary>Example</summary><pre><code>${JSON.stringify(example, null, 2)}</code></pre></details>`

function errorTable(responses: Entry['responses']): Html {
  const rows = responses.flatMap(([status, { description }]) =>
    readFailures(description).map(
      ({ code, meaning }) =>
        html`<tr><td>${status}</td><td><code>${code}</code></td><td>${prose(meaning)}</td></tr>`,
    ),
  )
  return html`<h4>Errors</h4><div class="scroll"><table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>${rows}</tbody></table></div>`
}

const shapeArticle = (name: string, shape: Shape) => html`
<article id="shape-${name}" aria-labelledby="shape-${name}-title">
<h3 id="shape-${name}-title"><code>${name}</code></h3>
${typeof shape.description === 'string' && html`<p>${prose(shape.description)}</p>`}
${shapeTree(shape, 'answer')}
</article>`
