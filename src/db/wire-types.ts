import pg from 'pg'

const BIGINT = 20
const TIMESTAMPTZ = 1184
const DATE = 1082

/** Parsers that give rows the types of the API: ISO timestamps, safe integers, plain dates. */
const parsers: Partial<Record<number, (text: string) => unknown>> = {
  [BIGINT]: (text) => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new RangeError('a bigint is beyond 2^53 - 1')
    return value
  },
  [TIMESTAMPTZ]: (text) => new Date(text).toISOString(),
  [DATE]: (text) => text,
}

export const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format === 'binary' ? undefined : parsers[oid]) ?? pg.types.getTypeParser(oid, format),
}
