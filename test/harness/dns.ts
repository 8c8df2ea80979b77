import { createSocket, type Socket as Datagrams } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'

export type RecordType = 'A' | 'AAAA' | 'TXT'

export interface Answer {
  addresses?: readonly string[]
  /** The addresses then belong to this name. */
  cname?: string
  /** TXT records, each of one string or of several. */
  texts?: readonly (string | readonly string[])[]
  code?: 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED'
  /** Whether the server sends no answer. */
  silent?: boolean
}

/**
 * Called for each question with the number of earlier ones, so that the answer can change
 * (rebinding).
 */
export type Zone = (type: RecordType, asked: number) => Answer

/** An authoritative name server for tests, over UDP and TCP on one port of 127.0.0.1. */
export interface TestDns {
  /** Its address, as a resolver's `servers` expects it. */
  server: string
  set(name: string, zone: Zone): void
  /** How many questions came for a name, of all types. */
  asked(name: string): number
  close(): Promise<void>
}

const TYPES: Record<RecordType, number> = { A: 1, AAAA: 28, TXT: 16 }
const TYPE_NAMES = Object.keys(TYPES) as RecordType[]
const CNAME = 5
const CODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 }

/** Longer answers are truncated over UDP and repeated over TCP, as the protocol requires. */
const UDP_BYTES = 512

export async function startDns(): Promise<TestDns> {
  const zones = new Map<string, Zone>()
  const asked = new Map<string, number>()

  function respond(query: Buffer): Buffer | null {
    const { name, typeNumber, end } = readQuestion(query)
    const type = TYPE_NAMES.find((each) => TYPES[each] === typeNumber)
    const zone = zones.get(name)
    if (type === undefined || zone === undefined) return encode(query, end, { code: 'NXDOMAIN' })
    const before = asked.get(`${name} ${type}`) ?? 0
    asked.set(`${name} ${type}`, before + 1)
    const answer = zone(type, before)
    return answer.silent === true ? null : encode(query, end, answer)
  }

  const { udp, tcp, port } = await bind(respond)
  return {
    server: `127.0.0.1:${port}`,
    set: (name, zone) => void zones.set(name, zone),
    asked: (name) => TYPE_NAMES.reduce((sum, type) => sum + (asked.get(`${name} ${type}`) ?? 0), 0),
    async close() {
      udp.close()
      tcp.close()
      await Promise.all([once(udp, 'close'), once(tcp, 'close')])
    },
  }
}

/** Always the same addresses, each under its own record type. */
export function fixed(...addresses: string[]): Zone {
  const of: Record<RecordType, readonly string[]> = {
    A: addresses.filter((each) => !each.includes(':')),
    AAAA: addresses.filter((each) => each.includes(':')),
    TXT: [],
  }
  return (type) => ({ addresses: of[type] })
}

/** Always the same TXT records, and nothing else. */
export function texts(...records: (string | readonly string[])[]): Zone {
  return (type) => (type === 'TXT' ? { texts: records } : {})
}

/** One zone for the first question of each type, another for every later one. */
export function rebinding(first: Zone, later: Zone): Zone {
  return (type, asked) => (asked === 0 ? first : later)(type, asked)
}

async function bind(respond: (query: Buffer) => Buffer | null) {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const udp: Datagrams = createSocket('udp4')
    udp.on('message', (query, from) => {
      const answer = respond(query)
      if (answer !== null) udp.send(truncated(answer, query), from.port, from.address)
    })
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const { port } = udp.address()
    const tcp: Server = createServer((socket) => serveTcp(socket, respond))
    tcp.listen(port, '127.0.0.1')
    try {
      await once(tcp, 'listening')
      return { udp, tcp, port }
    } catch {
      udp.close()
    }
  }
  throw new Error('no port is free for both UDP and TCP')
}

function serveTcp(socket: Socket, respond: (query: Buffer) => Buffer | null): void {
  let pending = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0)
      const answer = respond(pending.subarray(2, end))
      pending = pending.subarray(end)
      if (answer !== null) socket.write(Buffer.concat([uint16(answer.length), answer]))
    }
  })
}

function readQuestion(query: Buffer): { name: string; typeNumber: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length).toLowerCase())
    at += 1 + length
  }
  return { name: labels.join('.'), typeNumber: query.readUInt16BE(at + 1), end: at + 5 }
}

function encode(query: Buffer, end: number, answer: Answer): Buffer {
  const addresses = answer.addresses ?? []
  const owner = answer.cname === undefined ? pointer(12) : encodeName(answer.cname)
  const records = addresses.map((address) => {
    const data = Buffer.from(ipaddr.parse(address).toByteArray())
    return record(owner, data.length === 4 ? TYPES.A : TYPES.AAAA, data)
  })
  for (const text of answer.texts ?? []) {
    const strings = [text].flat().map((each) => Buffer.from(each))
    const data = Buffer.concat(strings.flatMap((each) => [Buffer.from([each.length]), each]))
    records.push(record(owner, TYPES.TXT, data))
  }
  if (answer.cname !== undefined) records.unshift(record(pointer(12), CNAME, owner))
  const code = answer.code === undefined ? 0 : CODES[answer.code]
  return Buffer.concat([
    query.subarray(0, 2),
    // Flags: response, authoritative, recursion desired and available.
    uint16(0x8580 | code),
    uint16(1),
    uint16(records.length),
    uint16(0),
    uint16(0),
    query.subarray(12, end),
    ...records,
  ])
}

function truncated(answer: Buffer, query: Buffer): Buffer {
  if (answer.length <= UDP_BYTES) return answer
  const cut = Buffer.from(answer.subarray(0, readQuestion(query).end))
  cut.writeUInt16BE(cut.readUInt16BE(2) | 0x0200, 2)
  cut.writeUInt16BE(0, 6)
  return cut
}

/** A time to live of zero, as in answers for DNS rebinding. */
function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const life = Buffer.alloc(4)
  return Buffer.concat([owner, uint16(type), uint16(1), life, uint16(data.length), data])
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'))
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), label])
  return Buffer.concat([...parts, Buffer.alloc(1)])
}

function pointer(offset: number): Buffer {
  return uint16(0xc000 | offset)
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}
