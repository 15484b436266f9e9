package io.carillon.cli.config;

import io.carillon.cli.shell.DatabaseUrl;
import io.carillon.cli.shell.Secrets;
import io.carillon.cli.shell.Shell;
import io.carillon.cli.shell.UsageException;
import io.carillon.value.Nearest;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** All settings, each with the place it came from. Flags come before the environment, and that before the file. */
public final class Settings {
    /** The variable that names a file. */
    public static final String FILE = "CARILLON_CONFIG";

    private static final String OURS = "CARILLON_";
    private static final List<String> OTHERS =
            List.of(FILE, "CARILLON_HOME", "CARILLON_URL", "CARILLON_KEY", "CARILLON_KEY_FILE", "CARILLON_PROFILE");
    /** Those of the test kit: who tests with it may start a server from the same shell. */
    private static final String OF_TESTS = OURS + "TEST_";

    /** Kubernetes sets these for each service; one may well be called carillon. */
    private static final Pattern OF_KUBERNETES =
            Pattern.compile(".*_SERVICE_(HOST|PORT)(_.*)?|.*_PORT(_\\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?");

    /** A value and where it came from. */
    public record Value(String text, String from) {}

    private final Map<Setting, Value> values;

    private Settings(Map<Setting, Value> values) {
        this.values = values;
    }

    /** Reads all of them; the flags are those that were given. */
    public static Settings read(Shell shell, Map<Setting, String> flags, @Nullable String file) {
        refuseUnknown(shell);
        Optional<String> named = Optional.ofNullable(file).or(() -> shell.variable(FILE));
        ConfigFile config = named.map(ConfigFile::read).orElseGet(ConfigFile::none);
        Map<Setting, Value> values = new EnumMap<>(Setting.class);
        for (Setting setting : Setting.values())
            value(shell, flags, config, setting).ifPresent(value -> values.put(setting, value));
        return new Settings(values);
    }

    /** The address of the database alone, for those who need nothing else. */
    public static Optional<DatabaseUrl> database(Shell shell, @Nullable String flag) {
        return Optional.ofNullable(flag)
                .or(() -> variable(shell, Setting.DATABASE_URL).map(Value::text))
                .map(DatabaseUrl::parse)
                .or(() -> PgVariables.read(shell));
    }

    private static Optional<Value> value(Shell shell, Map<Setting, String> flags, ConfigFile config, Setting setting) {
        String flag = flags.get(setting);
        if (flag != null)
            return Optional.of(new Value(
                    setting.flagNamesFile() ? Secrets.read(setting.flag(), flag) : flag, "flag " + setting.flag()));
        Optional<Value> told = variable(shell, setting);
        if (told.isPresent()) return told;
        // The variables of libpq are part of the environment, so they come before the file as well.
        if (setting == Setting.DATABASE_URL && PgVariables.read(shell).isPresent())
            return Optional.of(new Value("", "variables PG*"));
        String written = config.values().get(setting);
        if (written != null) return Optional.of(new Value(written, "file " + config.name()));
        return setting.usual().isEmpty() ? Optional.empty() : Optional.of(new Value(setting.usual(), "default"));
    }

    private static Optional<Value> variable(Shell shell, Setting setting) {
        Optional<String> plain = shell.variable(setting.variable());
        if (!setting.isSecret()) return plain.map(text -> new Value(text, "variable " + setting.variable()));
        String inFile = setting.variable() + "_FILE";
        Optional<String> file = shell.variable(inFile);
        if (plain.isPresent() && file.isPresent())
            throw new UsageException("Both %s and %s are set. Unset one.".formatted(setting.variable(), inFile));
        return plain.map(text -> new Value(text, "variable " + setting.variable()))
                .or(() -> file.map(name -> new Value(Secrets.read(inFile, name), "variable " + inFile)));
    }

    /** A misspelt variable would otherwise be a setting that silently does nothing. */
    private static void refuseUnknown(Shell shell) {
        List<String> known = new ArrayList<>(OTHERS);
        for (Setting setting : Setting.values()) {
            known.add(setting.variable());
            if (setting.isSecret()) known.add(setting.variable() + "_FILE");
        }
        shell.environment().keySet().stream()
                .filter(name -> name.startsWith(OURS) && !name.startsWith(OF_TESTS) && !known.contains(name))
                .filter(name -> !OF_KUBERNETES.matcher(name).matches())
                .sorted()
                .findFirst()
                .ifPresent(name -> {
                    throw new UsageException("There is no setting %s.%s Unset it, or see docs/configuration.md."
                            .formatted(name, Nearest.hint(name, known)));
                });
    }

    /** What somebody said, or the default. */
    public Optional<Value> get(Setting setting) {
        return Optional.ofNullable(values.get(setting));
    }

    /** The same without a secret in it. */
    public String shown(Setting setting, Shell shell) {
        if (setting == Setting.DATABASE_URL)
            return get(setting).isPresent() ? database(shell).shown() + " (user and password hidden)" : "";
        return get(setting)
                .map(value -> setting.isSecret() ? "(hidden)" : value.text())
                .orElse("");
    }

    /** Which database, or how to say it. */
    public DatabaseUrl database(Shell shell) {
        Value value = get(Setting.DATABASE_URL).orElseThrow(Settings::noDatabase);
        return value.text().isEmpty()
                ? PgVariables.read(shell).orElseThrow(Settings::noDatabase)
                : DatabaseUrl.parse(value.text());
    }

    /** Nobody named a database. */
    public static UsageException noDatabase() {
        return new UsageException(
                "Which database? Name it with --database-url, or set DATABASE_URL, DATABASE_URL_FILE or PGHOST, PGUSER and PGDATABASE.");
    }

    /** One of the words that are possible, or the nearest of them in the message. */
    public String word(Setting setting) {
        Value value = get(setting).orElse(new Value("", "default"));
        List<String> words = setting.words();
        if (!words.contains(value.text()))
            throw new UsageException("%s is '%s' (%s), and must be one of %s.%s"
                    .formatted(
                            setting.key(),
                            value.text(),
                            value.from(),
                            String.join(", ", words),
                            Nearest.hint(value.text(), words)));
        return value.text();
    }

    /** A whole number, if there is one. */
    public Optional<Integer> number(Setting setting, int least, int most) {
        return get(setting).map(value -> {
            boolean digits = value.text().matches("\\d{1,9}");
            int number = digits ? Integer.parseInt(value.text()) : -1;
            if (number < least || number > most)
                throw wrong(setting, value, "a number from %d to %d".formatted(least, most));
            return number;
        });
    }

    /** What was said cannot be. */
    static UsageException wrong(Setting setting, Value value, String wanted) {
        return new UsageException(
                "%s is '%s' (%s), and must be %s.".formatted(setting.key(), value.text(), value.from(), wanted));
    }
}
