package io.carillon.schedule;

import io.carillon.schedule.DstPolicy.Gap;
import io.carillon.schedule.DstPolicy.Repeat;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.time.zone.ZoneOffsetTransition;
import java.util.List;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The oracle: a second, simple implementation of the dialect that shares no code with the real one. It checks for every
 * second or minute of a span whether each part of the expression matches. For valid expressions only.
 */
final class ReferenceCron {
    private static final List<String> MONTHS =
            List.of("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC");
    private static final List<String> DAYS = List.of("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private final boolean sixFields;
    private final boolean followsClock;
    private final boolean[] seconds;
    private final boolean[] minutes;
    private final boolean[] hours;
    private final boolean[] months;
    private final String day;
    private final String weekday;

    ReferenceCron(String text) {
        String[] f = text.trim().toUpperCase(Locale.ROOT).split("[ \t]+", -1);
        sixFields = f.length == 6;
        int at = sixFields ? 1 : 0;
        seconds = plain(sixFields ? f[0] : "0", 0, 59);
        minutes = plain(f[at], 0, 59);
        hours = plain(f[at + 1], 0, 23);
        day = f[at + 2].replace('?', '*');
        months = plain(withNumbers(f[at + 3], MONTHS, 1), 1, 12);
        weekday = f[at + 4].replace('?', '*');
        followsClock = f[0].startsWith("*") || f[1].startsWith("*") || (sixFields && f[2].startsWith("*"));
    }

    /** Returns every instant in the open span, by checking each wall time that could lead into it. */
    NavigableSet<Instant> between(Instant from, Instant to, ZoneId zone, DstPolicy policy) {
        NavigableSet<Instant> found = new TreeSet<>();
        LocalDate last = to.atZone(ZoneOffset.UTC).toLocalDate().plusDays(2);
        for (LocalDate date = from.atZone(ZoneOffset.UTC).toLocalDate().minusDays(2);
                !date.isAfter(last);
                date = date.plusDays(1)) {
            if (matches(date)) {
                addDay(date, zone, policy, found);
            }
        }
        return found.subSet(from, false, to, false);
    }

    /**
     * For expressions that follow the clock: returns every instant in the open span at which the clock shows a match.
     */
    NavigableSet<Instant> shownBetween(Instant from, Instant to, ZoneId zone) {
        NavigableSet<Instant> found = new TreeSet<>();
        for (Instant at = from.plusSeconds(1); at.isBefore(to); at = at.plusSeconds(1)) {
            LocalDateTime wallTime = LocalDateTime.ofInstant(at, zone);
            if (matchesTime(wallTime.getHour(), wallTime.getMinute(), wallTime.getSecond())
                    && matches(wallTime.toLocalDate())) {
                found.add(at);
            }
        }
        return found;
    }

    boolean followsClock() {
        return followsClock;
    }

    boolean matches(LocalDate date) {
        if (!months[date.getMonthValue()]) {
            return false;
        }
        boolean byDay = anyPart(day, part -> dayPart(part, date));
        boolean byWeekday = anyPart(weekday, part -> weekdayPart(part, date));
        return (day.startsWith("*") || weekday.startsWith("*")) ? byDay && byWeekday : byDay || byWeekday;
    }

    private void addDay(LocalDate date, ZoneId zone, DstPolicy policy, NavigableSet<Instant> found) {
        int step = sixFields ? 1 : 60;
        for (int second = 0; second < 86_400; second += step) {
            if (matchesTime(second / 3600, second / 60 % 60, second % 60)) {
                found.addAll(instants(date.atStartOfDay().plusSeconds(second), zone, policy));
            }
        }
    }

    private boolean matchesTime(int hour, int minute, int second) {
        return hours[hour] && minutes[minute] && seconds[second];
    }

    private List<Instant> instants(LocalDateTime wallTime, ZoneId zone, DstPolicy policy) {
        List<ZoneOffset> offsets = zone.getRules().getValidOffsets(wallTime);
        List<Instant> passes =
                offsets.stream().map(wallTime::toInstant).sorted().toList();
        ZoneOffsetTransition change = zone.getRules().getTransition(wallTime);
        if (followsClock || change == null || change.getDuration().abs().compareTo(Duration.ofHours(3)) > 0) {
            return passes;
        }
        if (passes.isEmpty()) {
            return policy.gap() == Gap.RUN_AFTER ? List.of(change.getInstant()) : List.of();
        }
        if (policy.repeat() == Repeat.BOTH) {
            return passes;
        }
        return List.of(policy.repeat() == Repeat.FIRST ? passes.get(0) : passes.get(1));
    }

    private static boolean dayPart(String part, LocalDate date) {
        int length = date.lengthOfMonth();
        int today = date.getDayOfMonth();
        if (part.equals("L")) {
            return today == length;
        }
        if (part.equals("LW")) {
            LocalDate workday = date.with(TemporalAdjusters.lastDayOfMonth());
            while (isWeekend(workday)) {
                workday = workday.minusDays(1);
            }
            return date.equals(workday);
        }
        if (part.startsWith("L-")) {
            return today == length - Integer.parseInt(part.substring(2));
        }
        if (part.endsWith("W")) {
            int wanted = Integer.parseInt(part.substring(0, part.length() - 1));
            return wanted <= length && date.equals(nearestWorkday(date.withDayOfMonth(wanted)));
        }
        return plain(part, 1, 31)[today];
    }

    private static LocalDate nearestWorkday(LocalDate wanted) {
        LocalDate best = null;
        for (int shift = -2; shift <= 2; shift++) {
            LocalDate candidate = wanted.plusDays(shift);
            boolean fits = candidate.getMonth() == wanted.getMonth() && !isWeekend(candidate);
            if (fits && (best == null || distance(candidate, wanted) < distance(best, wanted))) {
                best = candidate;
            }
        }
        return best;
    }

    private static long distance(LocalDate a, LocalDate b) {
        return Math.abs(a.toEpochDay() - b.toEpochDay());
    }

    private static boolean isWeekend(LocalDate date) {
        return date.getDayOfWeek() == DayOfWeek.SATURDAY || date.getDayOfWeek() == DayOfWeek.SUNDAY;
    }

    private static boolean weekdayPart(String part, LocalDate date) {
        if (part.endsWith("L")) {
            DayOfWeek wanted = dayOfWeek(part.substring(0, part.length() - 1));
            return date.equals(date.with(TemporalAdjusters.lastInMonth(wanted)));
        }
        if (part.contains("#")) {
            DayOfWeek wanted = dayOfWeek(part.substring(0, part.indexOf('#')));
            int ordinal = Integer.parseInt(part.substring(part.indexOf('#') + 1));
            return date.equals(date.with(TemporalAdjusters.dayOfWeekInMonth(ordinal, wanted)));
        }
        String numbers = part.startsWith("SUN") ? part : part.replace("-SUN", "-7");
        boolean[] values = plain(withNumbers(numbers, DAYS, 0), 0, 7);
        int today = date.getDayOfWeek().getValue() % 7;
        return values[today] || (today == 0 && values[7]);
    }

    private static DayOfWeek dayOfWeek(String text) {
        int number = Integer.parseInt(withNumbers(text, DAYS, 0));
        return number == 0 ? DayOfWeek.SUNDAY : DayOfWeek.of(number);
    }

    private static String withNumbers(String text, List<String> names, int first) {
        String numbers = text;
        for (int i = 0; i < names.size(); i++) {
            numbers = numbers.replace(names.get(i), String.valueOf(i + first));
        }
        return numbers;
    }

    /** Stars, values, ranges and steps. */
    private static boolean[] plain(String field, int min, int max) {
        boolean[] values = new boolean[max + 1];
        for (String part : field.split(",", -1)) {
            String[] halves = part.split("/", -1);
            int step = halves.length > 1 ? Integer.parseInt(halves[1]) : 1;
            String[] ends = halves[0].split("-", -1);
            boolean star = halves[0].equals("*");
            int low = star ? min : Integer.parseInt(ends[0]);
            int high = star || (ends.length == 1 && halves.length > 1) ? max : Integer.parseInt(ends[ends.length - 1]);
            for (int value = low; value <= high; value++) {
                values[value] |= (value - low) % step == 0;
            }
        }
        return values;
    }

    private static boolean anyPart(String field, Predicate<String> matches) {
        return Stream.of(field.split(",", -1)).anyMatch(matches);
    }
}
