import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/** Anonymize a CSV file by ARX's local recoding: table, folder of hierarchies, output, k, distinct l, sensitive column. */
public final class Arx {
    public static void main(String[] given) throws Exception {
        Data data = Data.create(given[0], StandardCharsets.UTF_8, ',');
        DataHandle input = data.getHandle();
        String sensitive = given[5];
        for (int i = 0; i < input.getNumColumns(); i++) {
            String name = input.getAttributeName(i);
            if (name.equals(sensitive)) {
                int l = Integer.parseInt(given[4]);
                AttributeType as = l > 1 ? AttributeType.SENSITIVE_ATTRIBUTE : AttributeType.INSENSITIVE_ATTRIBUTE;
                data.getDefinition().setAttributeType(name, as);
            } else {
                String path = given[1] + "/" + name + ".csv";
                data.getDefinition().setAttributeType(name, Hierarchy.create(path, StandardCharsets.UTF_8, ','));
            }
        }
        double atLeast = 0.01; // of the rows that are left, in each round of local recoding
        ARXConfiguration asked = ARXConfiguration.create();
        asked.addPrivacyModel(new KAnonymity(Integer.parseInt(given[3])));
        if (Integer.parseInt(given[4]) > 1) {
            asked.addPrivacyModel(new DistinctLDiversity(sensitive, Integer.parseInt(given[4])));
        }
        asked.setSuppressionLimit(1d - atLeast);
        asked.setQualityModel(Metric.createLossMetric());
        ARXResult found = new ARXAnonymizer().anonymize(data, asked);
        DataHandle output = found.getOutput();
        if (output != null && found.isOptimizable(output)) {
            found.optimizeIterativeFast(output, atLeast);
        }
        output.save(given[2], ',');
    }
}
