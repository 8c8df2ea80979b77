import { readFileSync } from 'node:fs'
import type { ApiDocument, Content } from './api-document.ts'

/** A request that a test has sent, and the answer to it. Of an event, what an endpoint is sent. */
export interface ApiExample {
  request?: unknown
  status?: number
  response?: unknown
}

/** The examples by the name of their operation or event. */
export type ApiExamples = Readonly<Record<string, ApiExample>>

/**
 * The examples of the API document. `test/contract/examples.test.ts` sends each of them and compares the
 * answer with this file, so that none can be wrong.
 */
export const readExamples = (): ApiExamples =>
  JSON.parse(readFileSync(new URL('../../generated/api-examples.json', import.meta.url), 'utf8'))

const JSON_TYPE = 'application/json'

/** Puts examples into a document, beside the shapes that they are examples of. */
export function addExamples(document: ApiDocument, examples: ApiExamples): ApiDocument {
  for (const item of [
    ...Object.values(document.paths),
    ...Object.values(document.webhooks ?? {}),
  ]) {
    for (const { operationId = '', requestBody, responses } of Object.values(item)) {
      const example = Object.hasOwn(examples, operationId) ? examples[operationId] : undefined
      if (example === undefined) continue
      put(requestBody?.content, example.request)
      const response = responses[example.status ?? '']
      if (response !== undefined && !('$ref' in response)) put(response.content, example.response)
    }
  }
  return document
}

function put(content: Content | undefined, example: unknown): void {
  const shown = content?.[JSON_TYPE]
  if (shown !== undefined && example !== undefined) shown.example = example
}
