package io.carillon.schedule;

import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Zones with all kinds of clock changes, and the seeds of random tests. */
final class TestZones {
    private static final long SEED = Long.getLong("carillon.seed", 20_111_230L);

    private TestZones() {}

    static Stream<String> zonesWithClockChanges() {
        return Stream.of(
                "UTC",
                "Europe/Berlin",
                "Europe/Paris",
                "Europe/Dublin", // winter time is the exception, standard time applies in summer
                "America/New_York",
                "Australia/Lord_Howe", // changes by half an hour
                "Antarctica/Troll", // changes by two hours
                "Antarctica/Casey", // changes by exactly three hours
                "Africa/Cairo", // changes at midnight
                "America/Sao_Paulo", // changed at midnight
                "America/Nuuk", // changes at 23:00 in some years
                "America/Havana", // changes at midnight and at 01:00
                "Asia/Tehran", // changed at midnight, by another calendar
                "Africa/Casablanca", // changes around Ramadan
                "Asia/Kolkata", // no change since 1945
                "Pacific/Apia", // skipped a day in 2011
                "Pacific/Kwajalein"); // skipped a day in 1993
    }

    /** Returns the seed of a test, which -Dcarillon.seed=... sets. Prints it, so that a failure can be repeated. */
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
