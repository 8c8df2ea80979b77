import { type CommonParts, prepareMessage, type ReaderParts } from '../../src/platform/mime.ts'

/** A message to one person, as it is handed to a mail server. */
export interface Message extends Omit<CommonParts & ReaderParts, 'text' | 'html' | 'url'> {
  text: string
  html: string
}

/** Writes one message. */
export const writeMessage = ({ text, html, ...message }: Message): string =>
  prepareMessage({ ...message, text: [text], html: [html] })({ ...message, url: '' })
