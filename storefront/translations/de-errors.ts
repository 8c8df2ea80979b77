import type { ErrorTexts } from './en-errors.ts'

const ENTER_CARD = 'Bitte geben Sie eine Karte für die Zahlung ein.'
const TRY_ANOTHER_CARD =
  'Es wurde nichts abgebucht. Bitte versuchen Sie es mit einer anderen Karte.'
const TOO_MANY_ATTEMPTS =
  'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es dann noch einmal.'

export const deErrors: ErrorTexts = {
  fieldRequired: 'Bitte füllen Sie dieses Feld aus.',
  checkEmail: 'Bitte geben Sie eine gültige E-Mail-Adresse ein.',
  checkPostcode: (example) => `Bitte prüfen Sie die Eingabe, zum Beispiel ${example}.`,
  confirmToContinue: 'Bitte bestätigen Sie dies, um fortzufahren.',
  checkMarkedFields: 'Bitte prüfen Sie die markierten Felder.',
  enterCard: ENTER_CARD,
  checkCard: 'Bitte prüfen Sie Ihre Kartendaten.',
  cardFieldsFailed:
    'Die Kartenfelder des Zahlungsdienstes konnten nicht geladen werden. Bitte laden Sie die Seite neu.',
  cardNeedsScript:
    'Bitte schalten Sie JavaScript ein, um mit Karte zu zahlen: Die Felder kommen vom Zahlungsdienst.',
  cardNotHere:
    'Die neue Summe ist höher als Ihre Zahlung, und der Unterschied kann hier nicht bezahlt werden. Bitte bestellen Sie ihn gesondert.',
  checkCardNumber: 'Bitte prüfen Sie die Kartennummer.',
  checkExpiry: 'Bitte prüfen Sie das Ablaufdatum: Monat und Jahr, zum Beispiel 10/40.',
  cardExpired: 'Diese Karte ist abgelaufen. Bitte verwenden Sie eine andere.',
  checkSecurityCode: 'Bitte geben Sie die drei oder vier Ziffern der Prüfziffer ein.',
  couponChanged: 'Ihr Rabattcode wurde geprüft. Bitte prüfen Sie die Summe und zahlen Sie dann.',
  alreadySubmitted:
    'Dieser Warenkorb wurde bereits abgeschickt, vielleicht in einem anderen Tab. Bitte sehen Sie in Ihren Bestellungen nach, bevor Sie noch einmal zahlen.',
  previousAttemptRefused:
    'Ihr vorheriger Versuch war nicht erfolgreich, und es wurde nichts abgebucht. Bitte versuchen Sie es noch einmal.',
  quoteExpired: 'Die Seite war länger offen. Bitte prüfen Sie die Summe und zahlen Sie dann.',
  cartChanged: 'Ihr Warenkorb hat sich geändert. Bitte prüfen Sie ihn und zahlen Sie dann.',
  totalOfAddress:
    'Die Summe enthält jetzt die Steuer für Ihre Adresse. Bitte prüfen Sie sie und zahlen Sie dann.',
  declines: {
    card_declined: `Ihre Karte wurde abgelehnt. ${TRY_ANOTHER_CARD}`,
    insufficient_funds: `Ihre Karte ist nicht ausreichend gedeckt. ${TRY_ANOTHER_CARD}`,
    card_not_supported: `Diese Kartenart wird nicht akzeptiert. ${TRY_ANOTHER_CARD}`,
    expired_card: `Ihre Karte ist abgelaufen. ${TRY_ANOTHER_CARD}`,
    incorrect_cvv:
      'Die Prüfziffer passt nicht zur Karte. Es wurde nichts abgebucht. Bitte prüfen Sie die Prüfziffer oder verwenden Sie eine andere Karte.',
    processing_error:
      'Ihre Bank konnte die Zahlung nicht verarbeiten. Es wurde nichts abgebucht. Bitte versuchen Sie es noch einmal oder verwenden Sie eine andere Karte.',
  },
  declined: `Ihre Zahlung wurde abgelehnt. ${TRY_ANOTHER_CARD}`,
  refusals: {
    gift_card_spent:
      'Von dem Gutschein wurde schon etwas eingelöst, darum kann er nicht erstattet werden. Bitte wenden Sie sich an den Shop.',
    gift_card_issued:
      'Gutscheine einer Bestellung können nicht geändert werden. Bitte wenden Sie sich an den Shop.',
    feature_not_enabled:
      'Der Shop verkauft zurzeit keine Gutscheine. Bitte entfernen Sie sie aus dem Warenkorb.',
    return_window_closed: 'Die Frist für die Rückgabe ist abgelaufen.',
    final_sale: 'Diese Produkte sind von der Rückgabe ausgeschlossen.',
    quantity_exceeds_returnable: 'So viele können nicht zurückgesendet werden.',
    card_required: ENTER_CARD,
    fraud_rejected: 'Wir können diese Bestellung nicht annehmen. Bitte kontaktieren Sie den Shop.',
    unreadable_policy:
      'Der Shop kann gerade keine Bestellungen annehmen. Bitte wenden Sie sich an den Shop.',
    country_not_served: 'In dieses Land liefern wir nicht. Bitte wählen Sie ein anderes.',
    attestation_required: 'Bitte bestätigen Sie die Erklärung des Shops und zahlen Sie dann.',
    insufficient_stock: 'Es ist nicht genug auf Lager. Bitte wählen Sie eine kleinere Menge.',
    variant_not_found: 'Ein Artikel ist nicht mehr verfügbar. Bitte entfernen Sie ihn.',
    price_changed: 'Ein Preis hat sich geändert. Bitte prüfen Sie die Summe und zahlen Sie dann.',
    velocity_exceeded: TOO_MANY_ATTEMPTS,
    rate_limited: TOO_MANY_ATTEMPTS,
    currency_mismatch:
      'Ihre Artikel haben verschiedene Währungen. Bitte bestellen Sie sie getrennt.',
    gift_card_invalid:
      'Dieser Gutschein kann nicht verwendet werden. Es wurde nichts abgebucht. Bitte entfernen Sie den Code oder versuchen Sie einen anderen.',
    subscription_card_required:
      'Ein Abo braucht eine Karte. Zahlen Sie einen Teil mit Karte, oder bestellen Sie einmalig ohne Abo.',
    feature_disabled:
      'Der Shop bietet diese Option nicht mehr an. Es wurde nichts abgebucht. Bitte prüfen Sie Ihre Bestellung und zahlen Sie dann.',
    invalid_transition: 'Das ist bei dieser Bestellung nicht mehr möglich.',
    payment_request_closed: 'Für diese Bestellung ist nichts mehr zu zahlen.',
    order_busy: 'Diese Bestellung wird gerade geändert. Bitte versuchen Sie es gleich noch einmal.',
    idempotency_in_progress: 'Ihre Bestellung wird bearbeitet. Bitte warten Sie einen Moment.',
    disputed:
      'Die Zahlung dieser Bestellung wird angefochten. Bitte warten Sie, bis Ihre Bank entschieden hat.',
    not_refundable: 'Es kann nichts mehr erstattet werden.',
    amount_exceeds_refundable:
      'Der Betrag ist höher als das, was noch erstattet werden kann. Bitte geben Sie einen kleineren Betrag ein.',
    charge_not_found: 'Diese Zahlung gehört nicht zur Bestellung. Bitte wählen Sie eine andere.',
    refund_failed:
      'Die Bank hat die Erstattung abgelehnt. Bitte versuchen Sie es später noch einmal.',
    payment_unconfirmed:
      'Ihre Bank hat das noch nicht bestätigt. Bitte senden Sie es nicht noch einmal; laden Sie diese Seite später neu, um das Ergebnis zu sehen.',
  },
  failed:
    'Bei uns ist etwas schiefgegangen. Es wurde nichts abgebucht. Bitte versuchen Sie es noch einmal.',

  coupons: {
    unknown: 'Dieser Code ist nicht gültig. Bitte prüfen Sie die Schreibweise.',
    expired: 'Dieser Code ist abgelaufen.',
    not_started: 'Dieser Code ist noch nicht gültig.',
    exhausted: 'Dieser Code wurde zu oft verwendet und ist nicht mehr gültig.',
    per_customer: 'Sie haben diesen Code bereits verwendet.',
    min_subtotal: 'Ihr Warenkorb erreicht den Mindestbetrag für diesen Code nicht.',
    not_applicable: 'Dieser Code gilt nicht für die Artikel in Ihrem Warenkorb.',
  },
  couponRefused: 'Dieser Code kann nicht verwendet werden.',

  refundedBefore: (amount) =>
    `Mit diesem Formular wurden bereits ${amount} erstattet; jetzt wurde nichts weiter erstattet. Für eine weitere Erstattung senden Sie es bitte noch einmal.`,
  editedBefore:
    'Dieses Formular wurde bereits gesendet. Bitte prüfen Sie unten Ihre Bestellung; um sie weiter zu ändern, senden Sie es noch einmal.',
  refusedBefore:
    'Dieses Formular wurde bereits gesendet und abgelehnt; es wurde nichts geändert. Bitte senden Sie es noch einmal.',
  checkAmount: 'Bitte prüfen Sie den Betrag.',
}
