import { Type } from 'typebox'
import { invalidBody, invalidBodyOf } from '../../errors.ts'
import { CONTENT_TYPES, NewUpload } from './schema.ts'
import type { UploadedImage } from './service.ts'

const Binary = { schema: Type.String({ format: 'binary' }) }

/** The two ways to send an image, for the documentation. */
export const UPLOAD_BODY = {
  content: {
    'application/json': { schema: NewUpload },
    ...Object.fromEntries(CONTENT_TYPES.map((type) => [type, Binary])),
  },
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Validates an upload in JSON, and decodes its bytes. */
export async function readUpload(body: unknown): Promise<UploadedImage> {
  const { Value } = await import('typebox/value')
  if (!Value.Check(NewUpload, body)) {
    const found = Value.Errors(NewUpload, body).slice(0, 10)
    const issues = found.map((each) => ({ path: pathOf(each.instancePath), message: each.message }))
    throw invalidBodyOf(issues)
  }
  const { data_base64: text, content_type: contentType, alt = null } = body
  if (text.length % 4 !== 0 || !BASE64.test(text)) {
    throw invalidBody('data_base64', 'must be base64 with padding, on one line')
  }
  return { bytes: Buffer.from(text, 'base64'), contentType, alt, mayFree: true }
}

const pathOf = (pointer: string) => pointer.split('/').slice(1).join('.')
