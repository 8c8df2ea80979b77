/** Hosts of videos that a page may show in a frame, after a click of the shopper. */

export interface Embed {
  /** The name of the host, as shoppers know it. */
  host: string
  /** The address of the frame. These hosts set no cookie before the video plays. */
  frame: string
}

const YOUTUBE =
  /^https:\/\/(?:www\.youtube\.com\/watch\?v=|youtu\.be\/|www\.youtube-nocookie\.com\/embed\/)([\w-]{11})(?:[?&]|$)/
const VIMEO = /^https:\/\/(?:player\.)?vimeo\.com\/(?:video\/)?(\d{5,12})(?:[?/]|$)/

/** Reads the address of a video. Returns null for an address of any other host. */
export function readEmbed(url: string): Embed | null {
  const youtube = YOUTUBE.exec(url)?.[1]
  if (youtube !== undefined) {
    const frame = `https://www.youtube-nocookie.com/embed/${youtube}?autoplay=1`
    return { host: 'YouTube', frame }
  }
  const vimeo = VIMEO.exec(url)?.[1]
  if (vimeo === undefined) return null
  return { host: 'Vimeo', frame: `https://player.vimeo.com/video/${vimeo}?dnt=1&autoplay=1` }
}
