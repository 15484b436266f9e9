package io.carillon.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Creates random valid expressions: every form of the dialect, with a preference for the hours of clock changes. */
final class RandomCron {
    private static final String[] MONTHS = {
        "JAN", "feb", "Mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "nov", "Dec"
    };
    private static final String[] DAYS = {"SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT"};
    private static final int[] CLOCK_CHANGE_HOURS = {0, 0, 1, 1, 2, 2, 3, 22, 23};

    private final Random random;

    RandomCron(Random random) {
        this.random = random;
    }

    String next() {
        List<String> fields = new ArrayList<>();
        if (random.nextInt(3) == 0) {
            fields.add(random.nextInt(4) == 0 ? number(0, 59, 3) : list(3, () -> String.valueOf(below(0, 59))));
        }
        fields.add(random.nextInt(3) == 0 ? number(0, 59, 2) : list(3, () -> String.valueOf(below(0, 59))));
        fields.add(hours());
        fields.add(random.nextInt(2) == 0 ? "*" : list(3, this::day));
        fields.add(random.nextInt(4) == 0 ? months() : "*");
        fields.add(random.nextInt(2) == 0 ? "*" : list(2, this::weekday));
        return String.join(random.nextInt(8) == 0 ? " \t " : " ", fields);
    }

    DstPolicy policy() {
        DstPolicy.Gap[] gaps = DstPolicy.Gap.values();
        DstPolicy.Repeat[] repeats = DstPolicy.Repeat.values();
        return new DstPolicy(gaps[random.nextInt(gaps.length)], repeats[random.nextInt(repeats.length)]);
    }

    private String hours() {
        return switch (random.nextInt(4)) {
            case 0 -> number(0, 23, 2);
            case 1 -> "*";
            default -> list(3, () -> String.valueOf(CLOCK_CHANGE_HOURS[random.nextInt(CLOCK_CHANGE_HOURS.length)]));
        };
    }

    private String months() {
        if (random.nextBoolean()) {
            return number(1, 12, 3);
        }
        int low = below(1, 12);
        return MONTHS[low - 1] + (random.nextBoolean() ? "" : "-" + MONTHS[below(low, 12) - 1]);
    }

    private String day() {
        return switch (random.nextInt(8)) {
            case 0 -> "L";
            case 1 -> "L-" + below(0, 30);
            case 2 -> "LW";
            case 3 -> "?";
            case 4 -> below(1, 31) + "w";
            default -> number(1, 31, 1);
        };
    }

    private String weekday() {
        return switch (random.nextInt(7)) {
            case 0 -> someDay() + "L";
            case 1 -> someDay() + "#" + below(1, 5);
            case 2 -> dayRange() + (random.nextBoolean() ? "" : "/" + below(1, 4));
            case 3 -> "?";
            case 4 -> someDay();
            default -> number(0, 7, 1);
        };
    }

    private String someDay() {
        return random.nextBoolean() ? DAYS[random.nextInt(7)] : String.valueOf(below(0, 7));
    }

    private String dayRange() {
        int low = below(0, 7);
        int high = below(low, 7);
        boolean names = random.nextBoolean() && low < 7 && !(low == 0 && high == 7);
        return names ? DAYS[low] + "-" + DAYS[high % 7] : low + "-" + high;
    }

    /** Returns a list of plain forms: star, value and range, each with or without a step. */
    private String number(int min, int max, int most) {
        return list(most, () -> {
            int low = below(min, max);
            return switch (random.nextInt(6)) {
                case 0 -> "*";
                case 1 -> "*/" + below(1, max + 5);
                case 2 -> low + "-" + below(low, max);
                case 3 -> low + "-" + below(low, max) + "/" + below(1, max);
                case 4 -> low + "/" + below(1, max);
                default -> "0" + low;
            };
        });
    }

    private String list(int most, Supplier<String> part) {
        return Stream.generate(part).limit(below(1, most)).collect(Collectors.joining(","));
    }

    private int below(int low, int high) {
        return low + random.nextInt(high - low + 1);
    }
}
