package io.carillon.cli;

import io.carillon.CarillonException;
import io.carillon.CronSyntaxException;
import io.carillon.cli.answer.Format;
import io.carillon.cli.answer.Printer;
import io.carillon.cli.shell.ExitCode;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.internal.value.SpellingSuggester;
import io.carillon.schedule.CronExpression;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.Preview;
import io.carillon.schedule.When;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code carillon cron}: explains a cron expression without a database, with the calendar that plans the runs. */
@Command(
        name = "cron",
        description = "Explain a cron expression: its meaning, its next runs, and the effect of daylight saving time.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class CronCommand implements Callable<Integer> {
    private static final Pattern RFC_3339 =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?([Zz]|[+-]\\d\\d:\\d\\d)");

    /** An argument that begins with a hyphen and contains white space: a cron expression, never an option. */
    private static final Pattern HYPHENATED = Pattern.compile("-[^=\\s]*\\s.*", Pattern.DOTALL);

    private final Shell shell;

    @Parameters(
            paramLabel = "EXPRESSION",
            arity = "1..*",
            description = "Cron expression, in quotes: five fields (minute hour day month weekday), or six with "
                    + "seconds first.")
    private List<String> words = List.of();

    @Option(
            names = {"-z", "--zone"},
            paramLabel = "ZONE",
            defaultValue = "UTC",
            description = "IANA time zone, such as Europe/Paris. Default: ${DEFAULT-VALUE}.")
    private String zone = "UTC";

    @Option(
            names = "--after",
            paramLabel = "INSTANT",
            description = "Show runs after this instant, such as 2026-03-28T00:00:00Z. Default: now.")
    private @Nullable String after;

    @Option(
            names = {"-n", "--count"},
            paramLabel = "N",
            defaultValue = "10",
            description = "Number of runs to show, 1 to " + Preview.MAX_COUNT + ". Default: ${DEFAULT-VALUE}.")
    private int count = 10;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "table|json|yaml|name",
            defaultValue = "table",
            description = "Output format; 'name' prints only the instants. Default: ${DEFAULT-VALUE}.")
    private Format output = Format.TABLE;

    CronCommand(Shell shell) {
        this.shell = shell;
    }

    /** Moves an expression that begins with a hyphen behind {@code --}, so that it is not read as an option. */
    static String[] quoteLeadingHyphen(String... args) {
        if (args.length == 0 || !args[0].equals("cron") || List.of(args).contains("--")) return args;
        List<String> words = new ArrayList<>();
        List<String> last = new ArrayList<>();
        for (String arg : args) (HYPHENATED.matcher(arg).matches() ? last : words).add(arg);
        if (!last.isEmpty()) words.add("--");
        words.addAll(last);
        return words.toArray(String[]::new);
    }

    @Override
    public Integer call() {
        CronExpression expression = expression();
        ZoneId place = zoneId();
        Instant start = start();
        if (count < 1 || count > Preview.MAX_COUNT)
            throw new UsageException("--count must be between 1 and %d (was %d).".formatted(Preview.MAX_COUNT, count));
        Preview preview = Preview.of(expression, place, DstPolicy.defaults(), start, count);
        if (preview.entries().stream().noneMatch(Preview.Entry::willRun))
            throw new UsageException(
                    ("'%s' (%s) has no run after %s. A schedule with this expression would be rejected. Choose "
                                    + "days that exist.")
                            .formatted(expression, preview.description(), start));
        CronExplanation answer = new CronExplanation(expression.toString(), start, preview);
        shell.out().println(text(answer));
        return ExitCode.OK;
    }

    private String text(CronExplanation answer) {
        return switch (output) {
            case TABLE -> CronTable.text(answer);
            case NAME -> answer.instants();
            case JSON, YAML -> new Printer(shell, output).itemText(CronJson.of(answer), "expression");
        };
    }

    private CronExpression expression() {
        if (words.size() > 1)
            throw new UsageException(
                    ("The expression must be one argument (was %d, the first is %s). Put it in quotes: carillon "
                                    + "cron \"0 2 * * *\".")
                            .formatted(words.size(), words.get(0)));
        try {
            return CronExpression.parse(words.get(0));
        } catch (CronSyntaxException problem) {
            throw new UsageException(CronErrorPointer.at(words.get(0), problem), problem);
        }
    }

    private ZoneId zoneId() {
        try {
            return When.zone(zone);
        } catch (CarillonException unknown) {
            throw new UsageException(
                    unknown.getMessage() + SpellingSuggester.didYouMean(zone, ZoneId.getAvailableZoneIds()), unknown);
        }
    }

    private Instant start() {
        if (after == null) return shell.clock().instant();
        try {
            if (RFC_3339.matcher(after).matches()) return Instant.parse(after);
        } catch (DateTimeException notOnTheCalendar) {
            // Reported below, like text that does not match the pattern.
        }
        throw new UsageException(
                "--after must be an instant such as 2026-03-28T00:00:00Z or 2026-03-28T01:00:00+01:00 (was '%s')."
                        .formatted(after));
    }
}
