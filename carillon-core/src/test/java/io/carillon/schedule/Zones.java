package io.carillon.schedule;

import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Zones whose clocks change in every way there is, and where the seeds of random tests come from. */
final class Zones {
    private static final long SEED = Long.getLong("carillon.seed", 20_111_230L);

    private Zones() {}

    static Stream<String> restless() {
        return Stream.of(
                "UTC",
                "Europe/Berlin",
                "Europe/Paris",
                "Europe/Dublin", // winter time is the "saving" one
                "America/New_York",
                "Australia/Lord_Howe", // half an hour
                "Antarctica/Troll", // two hours
                "Antarctica/Casey", // exactly three hours
                "Africa/Cairo", // at midnight
                "America/Sao_Paulo", // at midnight
                "America/Nuuk", // at 23:00 in some years
                "America/Havana", // at midnight and at 01:00
                "Asia/Tehran", // at midnight, by another calendar
                "Africa/Casablanca", // around Ramadan
                "Asia/Kolkata", // no change since 1945
                "Pacific/Apia", // lost a day in 2011
                "Pacific/Kwajalein"); // lost a day in 1993
    }

    /** The seed of a run, changed by -Dcarillon.seed=..., printed so that a failure can be repeated. */
    static long seed(String test) {
        System.out.println(test + ": -Dcarillon.seed=" + SEED);
        return SEED + test.hashCode();
    }

    static List<ZoneOffsetTransition> changes(ZoneId zone, String from, String to) {
        List<ZoneOffsetTransition> changes = new ArrayList<>();
        ZoneOffsetTransition change = zone.getRules().nextTransition(Instant.parse(from));
        while (change != null && change.getInstant().isBefore(Instant.parse(to))) {
            changes.add(change);
            change = zone.getRules().nextTransition(change.getInstant());
        }
        return changes;
    }
}
