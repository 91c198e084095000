const ENGLISH =
  "a about after all also an and any are as at be because been before but by can could did do does done else for from " +
  "get go had has have he her here him his how i if in instead into is it its just like make may me more must my need no " +
  "not now of off ok on one only or other our out over please put same shall she should since so some still such take " +
  "than that the their them then there these they this those to too up us use used using very want was we were what when " +
  "where which while who why will with would yes you your add new keep allow deny approve question option";
const GERMAN =
  "aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den der des die dies diese " +
  "dieser dieses doch du durch ein eine einem einen einer eines er es fur hat haben hier ich ihr im in ist ja jetzt kann " +
  "kein keine konnen man mehr mein mit muss nach nein nicht noch nur ob oder ohne sein sich sie sind so soll sollen " +
  "sollte uber um und uns unser unter vom von vor war warum was welche welchen welcher welches wenn wer werden wie wir " +
  "wird wo zu zum zur nutzen verwenden statt lieber bitte";

/** Words that every question may have, in English and German, in small letters and without accents. */
export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${GERMAN}`.split(" "));
