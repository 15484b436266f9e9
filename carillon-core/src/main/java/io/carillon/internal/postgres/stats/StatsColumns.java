package io.carillon.internal.postgres.stats;

import io.carillon.Stats.RunStats;
import io.carillon.internal.jdbc.Row;
import io.carillon.internal.store.stats.DurationHistogram;
import io.carillon.internal.store.stats.StatsRow;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The columns of counts and durations that both tables have, and their sums. */
final class StatsColumns {
    /** The histograms. The column of the sum of the durations has the suffix {@value #SUM}. */
    static final List<String> HISTOGRAMS = List.of("lateness", "wait", "run");

    static final String SUM = "_micros";

    /** All columns, separated by commas. */
    static final String ALL = Stream.concat(counts(), HISTOGRAMS.stream().flatMap(name -> Stream.of(name + SUM, name)))
            .collect(Collectors.joining(", "));

    /** The sums of all columns, with the names of the columns. */
    static final String SUMS = counts().map(StatsColumns::sum).collect(Collectors.joining(", "))
            + HISTOGRAMS.stream()
                    .map(name -> ", " + sum(name + SUM) + ", " + sumOfBuckets(name))
                    .collect(Collectors.joining());

    private StatsColumns() {}

    private static Stream<String> counts() {
        return Stream.of(RunStats.Count.values()).map(RunStats.Count::text);
    }

    private static String sum(String column) {
        return "sum(" + column + ")::bigint AS " + column;
    }

    /** An element beyond the end of an array is null, which sum() leaves out. */
    private static String sumOfBuckets(String column) {
        return IntStream.rangeClosed(1, DurationHistogram.BUCKETS)
                .mapToObj(i -> "coalesce(sum(" + column + "[" + i + "]), 0)::bigint")
                .collect(Collectors.joining(", ", "ARRAY[", "] AS " + column));
    }

    static Map<RunStats.Count, Long> readCounts(Row row) throws SQLException {
        Map<RunStats.Count, Long> counts = new EnumMap<>(RunStats.Count.class);
        for (RunStats.Count what : RunStats.Count.values()) {
            long number = row.number(what.text());
            if (number != 0) counts.put(what, number);
        }
        return counts;
    }

    static StatsRow.Durations readDurations(Row row) throws SQLException {
        return new StatsRow.Durations(
                readHistogram(row, "lateness"), readHistogram(row, "wait"), readHistogram(row, "run"));
    }

    private static DurationHistogram readHistogram(Row row, String column) throws SQLException {
        return new DurationHistogram(row.number(column + SUM), row.numbers(column));
    }
}
