import { lines } from './lines.ts'

/** Claims as people word them, by language. Any rule may refuse them. */
export const NATURAL_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  en: lines(`
    Finally, something that actually works on arthritis
    Keeps your blood sugar where it should be
    Puts an end to sleepless nights and anxiety
    Drop two dress sizes by summer
    The fastest way to shed stubborn belly fat
    Wakes up your libido
    Gets rid of joint pain for good
    Doctors are prescribing it for diabetes
    Draw up 10 units and inject into your stomach
    Two scoops a day before training
    Its FDA approval came last year
    My knees stopped hurting after two weeks
    I threw away my blood pressure pills
    Wipes out viruses and bacteria in your body
    Turns back the years on tired skin
    Bounce back from injury twice as fast
    Rebuilds cartilage and repairs tendons
    Beats depression without medication
    Your hair grows back in weeks
    Helps you sleep through the night
    Melts away inches from your waist
    Stops hair loss
    Slows down ageing
    Safe to use on people
    Your joints will feel brand new in ten days
    Knock out a migraine before it starts
    Takes the pain out of your knees
    Say farewell to psoriasis
    Eases arthritis so you can dance again
    Clears acne overnight
    Shrink that stubborn gut
    Trim your waist by three inches
    Torch calories around the clock
    Wake up with more energy and stronger muscles
    Fights off colds and flu
    Ward off dementia as you age
    Guards against heart attacks
    Keeps cancer away
    Stave off diabetes
    Ends your battle with insomnia
    No more joint stiffness
    Brings down your blood pressure
    Get your cholesterol under control
    Studies show it lowers cholesterol
    Shown to reduce anxiety
    Proven to relieve arthritis pain
    Mix with water and inject under the skin
    Pinch the skin and inject slowly
    Take one capsule each morning
    One capsule in the morning and one at night
    2 sprays in each nostril twice a day
    Customers lost up to 9 kg in a month
    Our testers lost 12 pounds on average
    My blood pressure is back to normal
    My back no longer hurts
    I am off my meds thanks to this
    It took away my pain
    My wrinkles have faded
    Endorsed by the FDA
    Certified by the EMA as safe
    Surgeons use it after operations to speed recovery
    Doctors call it a breakthrough for arthritis
    Your skin will look ten years younger
    Restores your youthful glow
    Regrows hair on bald spots
    Boosts your sex drive
    Supercharge your testosterone
    Makes you sleep like a baby
    Cuts recovery time after injury in half`),
  de: lines(`
    Heilt Arthritis in wenigen Wochen
    Bekämpft Krebszellen
    Gegen Rückenschmerzen und Gelenkschmerzen
    Senkt den Blutdruck
    Senkt den Cholesterinspiegel
    Nehmen Sie dreimal täglich eine Tablette
    Spritzen Sie 250 mcg unter die Haut
    Von Ärzten empfohlen
    Von der FDA zugelassen
    Verbrennt Bauchfett
    Schnell abnehmen ohne Diät
    Baut Muskeln auf
    Steigert die Libido
    Ich habe zwölf Kilo verloren
    Meine Schmerzen sind weg
    Für den menschlichen Gebrauch geeignet
    Lindert Entzündungen
    Zur Behandlung von Depressionen
    Verlangsamt die Hautalterung`),
  es: lines(`
    Cura la artritis en pocas semanas
    Combate las células cancerosas
    Alivia el dolor de rodilla
    Reduce la presión arterial
    Baja el azúcar en sangre
    Tome una tableta tres veces al día
    Inyéctese 250 mcg bajo la piel
    Aprobado por la FDA
    Los médicos lo recomiendan
    Quema la grasa abdominal
    Baja de peso rápido
    Aumenta la masa muscular
    Aumenta la libido
    He perdido doce kilos
    Mi dolor ha desaparecido
    Tratamiento para la depresión
    Remedio natural contra el insomnio
    Para uso en humanos`),
  fr: lines(`
    Guérit l'arthrite en quelques semaines
    Combat les cellules cancéreuses
    Soulage le mal de dos
    Réduit la pression artérielle
    Prenez un comprimé trois fois par jour
    Injectez 250 mcg sous la peau
    Approuvé par la FDA
    Les médecins le recommandent
    Brûle la graisse du ventre
    Maigrir vite sans régime
    Augmente la masse musculaire
    Booste la libido
    J'ai perdu douze kilos
    Ma douleur a disparu
    Traitement de la dépression
    Remède naturel contre l'insomnie
    Convient à la consommation humaine`),
  it: lines(`
    Cura l'artrite in poche settimane
    Guarisce il cancro
    Combatte le cellule tumorali
    Allevia il dolore al ginocchio
    Riduce la pressione sanguigna
    Abbassa la glicemia
    Prendere due capsule al giorno
    Iniettare 250 mcg sotto la pelle
    Approvato dall'FDA
    Raccomandato dai medici
    Brucia il grasso addominale
    Perdere peso velocemente
    Aumenta la massa muscolare
    Aumenta la libido
    Ho perso dodici chili
    Il mio dolore è scomparso
    Previene l'Alzheimer
    Trattamento della depressione
    Per uso umano`),
  nl: lines(`
    Geneest artritis in een paar weken
    Geneest kanker
    Bestrijdt kankercellen
    Verlicht rugpijn
    Verlaagt de bloedsuiker
    Neem twee capsules per dag
    Injecteer 250 mcg onder de huid
    Door de FDA goedgekeurd
    Aanbevolen door artsen
    Verbrandt buikvet
    Snel afvallen
    Bouwt spieren op
    Verhoogt het libido
    Ik ben twaalf kilo afgevallen
    Mijn pijn is weg
    Voorkomt Alzheimer
    Behandeling van depressie
    Geschikt voor menselijke consumptie`),
  pl: lines(`
    Leczy raka
    Leczy zapalenie stawów w kilka tygodni
    Zwalcza komórki nowotworowe
    Łagodzi ból pleców
    Obniża ciśnienie krwi
    Obniża poziom cukru
    Przyjmuj dwie kapsułki dziennie
    Wstrzyknij 250 mcg pod skórę
    Zatwierdzone przez FDA
    Polecany przez lekarzy
    Spala tłuszcz z brzucha
    Szybka utrata wagi
    Zwiększa masę mięśniową
    Zwiększa libido
    Schudłam dwanaście kilo
    Mój ból zniknął
    Zapobiega chorobie Alzheimera
    Leczenie depresji
    Do spożycia przez ludzi`),
  ru: lines(`
    Лечит рак
    Излечивает артрит за несколько недель
    Уничтожает раковые клетки
    Снимает боль в спине
    Снижает давление
    Снижает уровень сахара в крови
    Принимайте две капсулы в день
    Вводите 250 мкг под кожу
    Одобрен FDA
    Рекомендовано врачами
    Сжигает жир на животе
    Быстрое похудение
    Наращивает мышечную массу
    Повышает либидо
    Я похудела на двенадцать килограммов
    Моя боль исчезла
    Предотвращает болезнь Альцгеймера
    Лечение депрессии
    Для употребления человеком`),
  zh: lines(`
    治愈癌症
    几周内治好关节炎
    杀死癌细胞
    缓解背痛
    降低血压
    降血糖
    每天服用两粒胶囊
    皮下注射250微克
    FDA认证
    医生推荐
    燃烧腹部脂肪
    快速减肥
    增加肌肉量
    提高性欲
    我瘦了十二公斤
    我的疼痛消失了
    预防老年痴呆
    治療憂鬱症
    適合人體使用
    抗衰老`),
  ja: lines(`
    がんを治す
    数週間で関節炎が治ります
    癌細胞を殺す
    腰痛を緩和します
    血圧を下げる
    血糖値を改善
    1日2カプセルを服用
    250mcgを皮下注射
    FDA認可
    医師推奨
    脂肪を燃焼
    短期間でダイエット成功
    筋肉を増やす
    性欲を高める
    12キロ痩せました
    痛みが消えました
    アルツハイマーを予防
    うつ病の治療に
    人体に使用できます
    アンチエイジング効果`),
  ar: lines(`
    يعالج السرطان
    يشفي من التهاب المفاصل في أسابيع
    يقتل الخلايا السرطانية
    يخفف آلام الظهر
    يخفض مستوى السكر في الدم
    تناول كبسولتين يوميا
    احقن 250 ميكروغرام تحت الجلد
    معتمد من FDA
    ينصح به الأطباء
    يحرق دهون البطن
    خسارة الوزن بسرعة
    يزيد الكتلة العضلية
    يزيد الرغبة الجنسية
    فقدت اثني عشر كيلو
    اختفى الألم
    يمنع مرض الزهايمر
    علاج الاكتئاب
    صالح للاستهلاك البشري`),
}
