import type { Texts } from '../translations/texts.ts'
import { type Html, html } from './html.ts'

/** Form fields. An error stands with its field, and a screen reader reads it with the field. */

export interface Field {
  name: string
  label: string
  /** The value of the `autocomplete` attribute. */
  autocomplete: string
  type?: string
  inputmode?: string
  placeholder?: string
  optional?: boolean
  /** Whether it stands beside another field if there is room. */
  pair?: boolean
  /** Hidden and not sent: our script shows it if the country has it. */
  absent?: boolean
  /**
   * Named for our script, which changes it with the country. The browser does not require it: without the script, the
   * form of one country is sent for another.
   */
  part?: boolean
}

/** The id of a field, by which a list of errors leads to it. */
export const fieldId = (name: string): string => `field-${name}`

export function textField(field: Field, value: string, error?: string): Html {
  const { name, type = 'text', inputmode, placeholder } = field
  return labelled(
    field,
    html`<input id="${fieldId(name)}" name="${name}" type="${type}" value="${value}"${attributes(field)}${inputmode !== undefined && html` inputmode="${inputmode}"`} maxlength="200"${placeholder !== undefined && html` placeholder="${placeholder}"`}${errorAttributes(name, error)}>`,
    error,
  )
}

export interface SelectField extends Field {
  choices: readonly { value: string; label: string }[]
}

export function selectField(field: SelectField, value: string, error?: string): Html {
  const { name, choices } = field
  const options = choices.map(
    (each) =>
      html`<option value="${each.value}"${each.value === value && html` selected`}>${each.label}</option>`,
  )
  return labelled(
    field,
    html`<select id="${fieldId(name)}" name="${name}"${attributes(field)}${errorAttributes(name, error)}>${options}</select>`,
    error,
  )
}

const attributes = ({ autocomplete, optional, absent, part }: Field): Html =>
  html` autocomplete="${autocomplete}"${!optional && (part ? html` aria-required="true"` : html` required`)}${absent && html` disabled`}`

const labelled = ({ name, label, pair, part, absent }: Field, input: Html, error?: string): Html =>
  html`<label class="field${pair && ' field-pair'}"${part && html` data-part="${name}"`}${absent && html` hidden`}><span>${label}</span>${input}${errorText(name, error)}</label>`

/** Connects a field with its error. */
export const errorAttributes = (name: string, error: string | undefined): Html | false =>
  error !== undefined && html` aria-invalid="true" aria-describedby="${name}-error"`

export const errorText = (name: string, error: string | undefined): Html | false =>
  error !== undefined && html`<span class="error" id="${name}-error">${error}</span>`

interface Checkbox {
  name: string
  label: string
  value?: string
  note?: string
  checked: boolean
  required?: boolean
  /** Whether the total changes with it. */
  reprice?: boolean
  error?: string | undefined
}

export function checkbox(options: Checkbox): Html {
  const { name, label, value = '1', note, checked, required, reprice, error } = options
  return html`<label class="check"><input type="checkbox" id="${fieldId(name)}" name="${name}" value="${value}"${checked && html` checked`}${required && html` required`}${reprice && html` data-reprice`}${errorAttributes(name, error)}><span>${label}${note && html`<span class="check-note">${note}</span>`}${errorText(name, error)}</span></label>`
}

interface CardField {
  name: string
  label: string
  autocomplete: string
  lengthMax: number
  placeholder: string
  /** Takes half of the row. */
  half?: boolean
}

const cardFieldList = (texts: Texts): readonly CardField[] => [
  {
    name: 'number',
    label: texts.cardNumber,
    autocomplete: 'cc-number',
    lengthMax: 23,
    placeholder: '1234 1234 1234 1234',
  },
  {
    name: 'expiry',
    label: texts.expiryDate,
    autocomplete: 'cc-exp',
    lengthMax: 7,
    placeholder: texts.expiryHint,
    half: true,
  },
  {
    name: 'cvv',
    label: texts.securityCode,
    autocomplete: 'cc-csc',
    lengthMax: 4,
    placeholder: '123',
    half: true,
  },
]

/** The fields of a card. Always empty: a card that was typed before is never sent back. */
export function cardFields(texts: Texts, errors: Record<string, string>): Html {
  const fields = cardFieldList(texts).map(
    ({ name, label, autocomplete, lengthMax, placeholder, half }) =>
      html`<label class="field${half && ' field-half'}"><span>${label}</span><input id="${fieldId(name)}" name="card_${name}" inputmode="numeric" autocomplete="${autocomplete}" required maxlength="${lengthMax}" placeholder="${placeholder}"${errorAttributes(name, errors[name])}>${errorText(name, errors[name])}</label>`,
  )
  return html`<div class="fields">${fields}</div>`
}
