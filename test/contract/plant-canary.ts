import assert from 'node:assert/strict'
import { RESOURCES } from '../harness/all-resources.ts'
import type { Caller } from '../harness/app.ts'
import { freshKey } from './ids.ts'

/** Writes a marker into every free text of the store. */
export async function plantCanary(merchant: Caller, canary: string): Promise<void> {
  for (const [method, url, body] of RESOURCES.flatMap(({ texts }) => texts?.(canary) ?? [])) {
    const answer = await merchant.send(method, url, body, freshKey())
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.text}`)
  }
}
