import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { createImageProcesses } from '../../../src/modules/media/image-processes.ts'
import { processImage } from '../../../src/modules/media/process-image.ts'
import { CONTENT_TYPES, type ContentType } from '../../../src/modules/media/schema.ts'
import {
  animated,
  corners,
  photographed,
  plain,
  pngChunk,
  pngWithSize,
  withChunks,
} from './sample-images.ts'

const FORMATS = ['png', 'jpeg', 'webp', 'gif', 'avif'] as const

const images = createImageProcesses()

const clean = (bytes: Buffer, type: ContentType) =>
  images.run('acme', (perform) => processImage(bytes, type, perform))

const refuses = (bytes: Buffer, type: ContentType, code = 'image_invalid') =>
  assert.rejects(clean(bytes, type), { code })

/** The colours of the corners, as a viewer sees them. */
async function visibleCorners(bytes: Buffer): Promise<string> {
  const { data, info } = await sharp(bytes)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const start = (y * info.width + x) * info.channels
    return [...data.subarray(start, start + 3)].map((each) => (each > 128 ? 1 : 0)).join('')
  }
  const [right, low] = [info.width - 4, info.height - 4]
  return [`${info.width}x${info.height}`, at(3, 3), at(right, 3), at(3, low), at(right, low)].join(
    ' ',
  )
}

describe('a processed image', () => {
  for (const format of FORMATS) {
    test(`${format}: keeps its bytes when there is nothing to remove`, async () => {
      const bytes = await plain(format)
      const processed = await clean(bytes, `image/${format}`)
      assert.deepEqual([processed.width, processed.height], [40, 20])
      assert.ok(processed.bytes.equals(bytes))
    })
  }

  for (const format of ['png', 'jpeg', 'webp', 'avif'] as const) {
    test(`${format}: loses its place and its camera data`, async () => {
      const bytes = await photographed(format)
      assert.ok(bytes.includes('SECRET'))
      const processed = await clean(bytes, `image/${format}`)
      assert.ok(!processed.bytes.includes('SECRET'))
      assert.equal((await sharp(processed.bytes).metadata()).exif, undefined)
      assert.equal(await visibleCorners(processed.bytes), await visibleCorners(bytes))
    })
  }

  for (const format of ['png', 'jpeg', 'webp'] as const) {
    test(`${format}: is turned upright`, async () => {
      for (const orientation of [2, 3, 4, 5, 6, 7, 8]) {
        const bytes = await photographed(format, orientation)
        const processed = await clean(bytes, `image/${format}`)
        const wanted = await sharp(bytes).autoOrient().png().toBuffer()
        assert.equal(
          await visibleCorners(processed.bytes),
          await visibleCorners(wanted),
          `orientation ${orientation}`,
        )
        assert.equal((await sharp(processed.bytes).metadata()).orientation, undefined)
        assert.deepEqual([processed.width, processed.height], orientation > 4 ? [32, 64] : [64, 32])
      }
    })
  }

  test('has its colours converted to sRGB, and no profile', async () => {
    for (const format of ['png', 'jpeg', 'webp'] as const) {
      const bytes = await sharp(await plain('png', 250))
        .withIccProfile('p3')
        .toFormat(format)
        .toBuffer()
      assert.ok((await sharp(bytes).metadata()).icc)
      const processed = await clean(bytes, `image/${format}`)
      assert.equal((await sharp(processed.bytes).metadata()).icc, undefined)
      const [r = 0] = await sharp(processed.bytes).raw().toBuffer()
      assert.ok(r > 240, `${format}: ${r}`)
    }
  })

  test('keeps its animation', async () => {
    for (const format of ['gif', 'webp'] as const) {
      const processed = await clean(await animated(format), `image/${format}`)
      assert.deepEqual([processed.width, processed.height], [40, 20])
      assert.equal((await sharp(processed.bytes, { animated: true }).metadata()).pages, 3)
    }
  })

  test('has no bytes after its end, and no comments', async () => {
    const tail = Buffer.from('<script>SECRET</script>')
    for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
      const bytes = await plain(format)
      const processed = await clean(Buffer.concat([bytes, tail]), `image/${format}`)
      assert.ok(processed.bytes.equals(bytes), format)
    }
    const gif = await plain('gif')
    const comment = Buffer.concat([Buffer.from([0x21, 0xfe, 6]), Buffer.from('SECRET\0')])
    const commented = Buffer.concat([gif.subarray(0, -1), comment, gif.subarray(-1)])
    assert.ok((await clean(commented, 'image/gif')).bytes.equals(gif))
    const jpeg = await plain('jpeg')
    const jpegComment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 8]), Buffer.from('SECRET')])
    const commentedJpeg = Buffer.concat([jpeg.subarray(0, 2), jpegComment, jpeg.subarray(2)])
    assert.ok((await clean(commentedJpeg, 'image/jpeg')).bytes.equals(jpeg))
  })

  test('has no thumbnail', async () => {
    const background = { r: 200, g: 3, b: 3, alpha: 0.5 }
    const bytes = await sharp({ create: { width: 64, height: 32, channels: 4, background } })
      .avif()
      .toBuffer()
    assert.ok((await clean(bytes, 'image/avif')).bytes.equals(bytes))
    // The transparency of the image is now labelled a thumbnail of it.
    bytes.write('thmb', bytes.indexOf('auxl', bytes.indexOf('iref')), 'latin1')
    const processed = await clean(bytes, 'image/avif')
    assert.deepEqual(
      [processed.bytes.includes('thmb'), processed.width, processed.height],
      [false, 64, 32],
    )
  })

  test('never has a compressed text chunk inflated', async () => {
    const png = await plain('png')
    const bomb = deflateSync(Buffer.alloc(16 * 1_024 * 1_024))
    const chunks = [
      pngChunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), bomb])),
      pngChunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), bomb])),
    ]
    assert.ok((await clean(withChunks(png, ...chunks), 'image/png')).bytes.equals(png))
  })

  test('has only its first colour profile inflated, so that thousands cost no more', async () => {
    // Encoded differently from our own encoder, so that a second encoding would show.
    const png = await sharp(await corners())
      .png({ compressionLevel: 0 })
      .toBuffer()
    const profile = (text: string) =>
      pngChunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), deflateSync(Buffer.from(text))]))
    const many = withChunks(png, profile('sRGB'), profile('another'), profile('yet another'))
    assert.ok((await clean(many, 'image/png')).bytes.equals(png))
  })
})

describe('an image is refused', () => {
  test('when its bytes are not of the declared type', async () => {
    const pictures = new Map<ContentType, Buffer>()
    for (const format of FORMATS) pictures.set(`image/${format}`, await plain(format))
    pictures.set('image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
    for (const [type, bytes] of pictures) {
      for (const jpegComment of CONTENT_TYPES) {
        if (jpegComment !== type) await refuses(bytes, jpegComment, 'content_mismatch')
      }
    }
    for (const type of CONTENT_TYPES) {
      await refuses(Buffer.alloc(0), type, 'content_mismatch')
      await refuses(Buffer.from('MZ no picture'), type, 'content_mismatch')
      await refuses(Buffer.from('<!doctype html><script>1</script>'), type, 'content_mismatch')
    }
  })

  test('when it ends too early, wherever it ends', async () => {
    for (const format of FORMATS) {
      const bytes = format === 'gif' ? await animated('gif') : await photographed(format)
      for (const share of [0.1, 0.5, 0.9, 0.99]) {
        const cut = bytes.subarray(0, Math.max(16, Math.floor(bytes.length * share)))
        await refuses(cut, `image/${format}`)
      }
    }
  })

  test('when its header states too many pixels, before any pixel is decoded', async () => {
    await refuses(pngWithSize(50_000, 50_000), 'image/png')
    await refuses(pngWithSize(16_000, 16_000), 'image/png')
    await refuses(pngWithSize(0, 10), 'image/png')
    const gif = await plain('gif')
    gif.writeUInt16LE(50_000, 6)
    gif.writeUInt16LE(50_000, 8)
    await refuses(gif, 'image/gif')
    const jpeg = await plain('jpeg')
    const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
    jpeg.writeUInt16BE(50_000, frame + 5)
    jpeg.writeUInt16BE(50_000, frame + 7)
    await refuses(jpeg, 'image/jpeg')
    const webp = await plain('webp')
    webp.writeUInt16LE(0x3fff, 26)
    webp.writeUInt16LE(0x3fff, 28)
    await refuses(webp, 'image/webp')
    const avif = await plain('avif')
    const box = avif.indexOf('ispe')
    avif.writeUInt32BE(50_000, box + 8)
    avif.writeUInt32BE(50_000, box + 12)
    await refuses(avif, 'image/avif')
  })

  test('when it has too many frames', async () => {
    const bytes = await animated('gif', 2)
    const frame = bytes.subarray(bytes.lastIndexOf(0x2c), -1)
    const many = Buffer.concat([
      bytes.subarray(0, -1),
      ...Array(70_000).fill(frame),
      Buffer.from(';'),
    ])
    await refuses(many, 'image/gif')
  })

  test('when it has too many parts, without delay', async () => {
    const [gif, png, webp, avif] = [
      await plain('gif'),
      await plain('png'),
      await plain('webp'),
      await plain('avif'),
    ]
    const jpeg = await plain('jpeg')
    const many = (part: Buffer) => Buffer.alloc(part.length * 60_000, part)
    const gifs = many(Buffer.from([0x21, 0xfe, 0]))
    const junk = many(Buffer.from('JUNK\0\0\0\0'))
    webp.writeUInt32LE(webp.length - 8 + junk.length, 4)
    const before = process.cpuUsage()
    await refuses(Buffer.concat([gif.subarray(0, -1), gifs, gif.subarray(-1)]), 'image/gif')
    await refuses(withChunks(png, many(pngChunk('IDAT', Buffer.alloc(0)))), 'image/png')
    await refuses(Buffer.concat([webp, junk]), 'image/webp')
    await refuses(Buffer.concat([avif, many(Buffer.from('\0\0\0\x08free'))]), 'image/avif')
    const comments = many(Buffer.from([0xff, 0xfe, 0, 2]))
    await refuses(Buffer.concat([jpeg.subarray(0, 2), comments, jpeg.subarray(2)]), 'image/jpeg')
    const stuffed = Buffer.alloc(20_000_000, Buffer.from([0xff, 0]))
    await refuses(Buffer.concat([jpeg.subarray(0, -2), stuffed]), 'image/jpeg')
    const { user } = process.cpuUsage(before)
    assert.ok(user < 3e6, `${user / 1e3} ms`)
  })

  test('when its bytes were altered', async () => {
    const bytes = await corners()
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 0xff
    await refuses(bytes, 'image/png')
  })
})
